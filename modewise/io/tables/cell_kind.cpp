#include "modewise/io/tables/cell_kind.h"

#include <algorithm>

#include "modewise/io/number_text.h"
#include "modewise/io/tables/date_time.h"
#include "modewise/io/tables/written_number.h"

namespace modewise::io {

MissingValues::MissingValues(const std::vector<std::string>& marks, char decimal) {
  for (const std::string& mark : marks) {
    double value;
    if (parse_number(mark, decimal, value)) {
      numbers_.push_back(value);
    } else {
      texts_.emplace_back(strip_spaces(mark));
    }
  }
}

bool MissingValues::contains(std::string_view text) const {
  text = strip_spaces(text);
  return std::find(texts_.begin(), texts_.end(), text) != texts_.end();
}

bool MissingValues::contains(double value) const {
  return std::find(numbers_.begin(), numbers_.end(), value) != numbers_.end();
}

CellKind kind_of(std::string_view text, char decimal, const MissingValues& missing, bool plain) {
  double value;
  if (parse_number(text, decimal, value))
    return missing.contains(value) ? CellKind::missing : CellKind::number;
  if (missing.contains(text)) return CellKind::missing;
  if (read_date_time(text)) return CellKind::date;
  if (plain) return CellKind::text;
  if (is_missing_mark(text)) return CellKind::mark;
  if (text.find_first_of("0123456789") == std::string_view::npos) return CellKind::text;
  return read_written_number(text).formats != 0 ? CellKind::number : CellKind::text;
}

CsvColumn::Kind majority_of(size_t numbers, size_t dates, size_t texts, size_t marks) {
  const size_t filled = numbers + dates + texts;
  if (filled == 0 && marks > 0) return CsvColumn::text;
  if (2 * numbers >= filled) return CsvColumn::number;
  return 2 * dates >= filled ? CsvColumn::date : CsvColumn::text;
}

}  // namespace modewise::io
