#include "modewise/data/series_classification/long_table.h"

#include <cmath>
#include <unordered_map>
#include <vector>

#include "modewise/core/name_index.h"
#include "modewise/data/label_cells.h"
#include "modewise/io/tables/column_names.h"

namespace modewise::data {
namespace {

constexpr int64_t kFewRises = 32;  // with fewer, chance looks like a long table

/// The rows of each id, by the place of the id; `of_row` is empty if the column has no ids.
struct Ids {
  std::vector<size_t> of_row;
  int64_t count = 0;
};

Ids ids_of_numbers(const io::NumberCells& numbers) {
  Ids ids;
  std::unordered_map<double, size_t> places;
  for (const double number : numbers) {
    if (number != std::floor(number)) return {};  // NaN too
    ids.of_row.push_back(places.try_emplace(number, places.size()).first->second);
  }
  ids.count = std::ssize(places);
  return ids;
}

Ids ids_of_texts(const io::TextCells& texts) {
  Ids ids;
  NameIndex places;
  for (const std::string_view cell : texts) {
    const std::string_view text = cell_text(cell);
    if (text.empty()) return {};
    const auto [place, is_new] = places.add(text);
    ids.of_row.push_back(place);
    ids.count += is_new ? 1 : 0;
  }
  return ids;
}

/// Ids that repeat; one id alone only under the name of an index.
Ids repeated_ids(const io::CsvColumn& column, int64_t rows) {
  if (column.kind == io::CsvColumn::date) return {};
  Ids ids =
      column.kind == io::CsvColumn::number ? ids_of_numbers(column.numbers) : ids_of_texts(column.texts);
  const int64_t fewest = io::names_an_index(column.name) ? 1 : 2;
  return ids.count >= fewest && rows - ids.count >= std::max(kFewRises, ids.count) ? ids : Ids();
}

/// Whether `follows(before, row)` for the rows of each id, one after the other.
template <class Follows>
bool within_each(const Ids& ids, const Follows& follows) {
  std::vector<size_t> last(static_cast<size_t>(ids.count), SIZE_MAX);
  for (size_t row = 0; row < ids.of_row.size(); ++row) {
    size_t& before = last[ids.of_row[row]];
    if (before != SIZE_MAX && !follows(before, row)) return false;
    before = row;
  }
  return true;
}

bool rises(const io::CsvColumn& column, const Ids& ids) {
  if (column.kind == io::CsvColumn::text) return false;
  if (column.kind == io::CsvColumn::date)
    return within_each(ids,
                       [&](size_t before, size_t row) { return column.dates[before] < column.dates[row]; });
  return within_each(ids,
                     [&](size_t before, size_t row) { return column.numbers[before] < column.numbers[row]; });
}

}  // namespace

std::optional<LongTable> find_long_table(const io::CsvTable& table, const io::CsvColumn* classes) {
  if (!table.had_header) return std::nullopt;
  for (const io::CsvColumn& column : table.columns) {
    if (&column == classes) continue;
    const Ids ids = repeated_ids(column, table.rows);
    if (ids.of_row.empty()) continue;
    const bool one_class = classes == nullptr || within_each(ids, [&](size_t before, size_t row) {
                             return classes->texts[before] == classes->texts[row];
                           });
    if (!one_class) continue;
    for (const io::CsvColumn& steps : table.columns)
      if (&steps != &column && &steps != classes && rises(steps, ids)) return LongTable{&column, &steps};
  }
  return std::nullopt;
}

}  // namespace modewise::data
