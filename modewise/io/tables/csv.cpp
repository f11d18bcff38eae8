#include "modewise/io/tables/csv.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "modewise/core/error.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/csv_column_reader.h"
#include "modewise/io/tables/csv_dialect.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/text_input.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

std::vector<std::string> read_names(CsvScanner& scanner, const CsvDialect& dialect,
                                    const std::string& source) {
  std::vector<std::string> names;
  scanner.row([&](size_t, std::string_view cell) {
    if (names.size() < kCsvColumnLimit) names.emplace_back(strip_spaces(cell));
  });
  require(scanner.cells() <= kCsvColumnLimit, ErrorKind::data, "{}:{}: {} columns; the limit is {}", source,
          scanner.line(), scanner.cells(), kCsvColumnLimit);
  std::unordered_map<std::string_view, size_t> seen;
  for (size_t c = 0; c < names.size(); ++c) {
    if (!dialect.header) names[c] = std::to_string(c + 1);
    if (names[c].empty()) names[c] = "column " + std::to_string(c + 1);
  }
  for (size_t c = 0; c < names.size(); ++c) {
    const auto [other, is_new] = seen.emplace(names[c], c);
    require(is_new, ErrorKind::data, "{}:{}: columns {} and {} are both named {}", source, scanner.line(),
            other->second + 1, c + 1, quote_for_message(names[c]));
  }
  return names;
}

class TableReader {
 public:
  TableReader(std::string_view text, const std::string& source, const CsvOptions& options)
      : text_(text),
        source_(source),
        options_(options),
        dialect_(guess_dialect(text, source, options)),
        missing_(options.missing, dialect_.decimal) {}

  CsvTable read() {
    CsvScanner scanner(text_, dialect_.delimiter, source_);
    const std::vector<std::string> names = read_names(scanner, dialect_, source_);
    const CsvScanner at_rows = dialect_.header ? scanner : CsvScanner(text_, dialect_.delimiter, source_);
    // A row has at least one byte per column, so the reservation is bounded by the file's size.
    const auto rest = at_rows.rest();
    const size_t max_rows = std::min(count_filled_lines(rest), rest.size() / names.size() + 1);
    columns_.reserve(names.size());
    for (size_t c = 0; c < names.size(); ++c) {
      columns_.emplace_back(names[c], dialect_.kinds[c], dialect_.decimal, missing_, max_rows,
                            options_.is_text && options_.is_text(names[c]));
    }
    read_rows(at_rows);
    require(rows_ > 0, ErrorKind::data, "{}: a header without rows", source_);
    // The kind guessed from the first rows may be wrong: such a column is read again as its actual kind.
    std::vector<size_t> open(columns_.size());
    std::iota(open.begin(), open.end(), size_t{0});
    while (!open.empty()) {
      std::erase_if(open,
                    [&](size_t c) { return columns_[c].finish(source_) == CsvColumnReader::Result::good; });
      reread(at_rows, open);
    }
    return table();
  }

 private:
  void read_rows(CsvScanner scanner) {
    const size_t width = columns_.size();
    while (scanner.row([&](size_t c, std::string_view cell) {
      if (c < width) columns_[c].add(cell, scanner.line());
    })) {
      if (scanner.cells() != width) {
        fail(ErrorKind::data, "{}:{}: expected {} cells as in the {}, got {}", source_, scanner.line(), width,
             dialect_.header ? "header" : "first row", scanner.cells());
      }
      ++rows_;
    }
  }

  void reread(CsvScanner scanner, const std::vector<size_t>& columns) {
    if (columns.empty()) return;
    std::vector<CsvColumnReader*> wanted(columns_.size(), nullptr);
    for (const size_t c : columns) wanted[c] = &columns_[c];
    while (scanner.row([&](size_t c, std::string_view cell) {
      if (wanted[c] != nullptr) wanted[c]->add(cell, scanner.line());
    })) {
    }
  }

  CsvTable table() {
    // Rows that end in a delimiter give an unnamed, empty last column.
    if (columns_.size() > 1 && dialect_.header && columns_.back().all_missing() &&
        columns_.back().name() == "column " + std::to_string(columns_.size())) {
      columns_.pop_back();
    }
    CsvTable table;
    table.rows = rows_;
    table.had_header = dialect_.header;
    table.suspect_row = dialect_.suspect_row;
    table.delimiter = dialect_.delimiter;
    table.decimal = dialect_.decimal;
    table.source = source_;
    table.columns.reserve(columns_.size());
    for (CsvColumnReader& column : columns_) table.columns.push_back(column.take());
    return table;
  }

  std::string_view text_;
  const std::string& source_;
  const CsvOptions& options_;
  CsvDialect dialect_;
  MissingValues missing_;
  std::vector<CsvColumnReader> columns_;
  int64_t rows_ = 0;
};

}  // namespace

const CsvColumn* CsvTable::find(std::string_view name) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const CsvColumn& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

CsvTable parse_csv(std::span<const std::byte> bytes, const std::string& source, const CsvOptions& options) {
  return TableReader(TextInput(bytes, source).text(), source, options).read();
}

CsvHeader guess_csv_header(std::span<const std::byte> bytes, const std::string& source,
                           const CsvOptions& options) {
  const CsvDialect dialect = guess_dialect(TextInput(bytes, source).text(), source, options);
  return {dialect.header, dialect.suspect_row};
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
  const MappedFile file(path);
  return parse_csv(file.bytes(), path, options);
}

}  // namespace modewise::io
