#include "modewise/io/tables/text_table.h"

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/text_input.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

constexpr size_t kMaxColumns = 1000;

class TextTableReader {
 public:
  TextTableReader(std::string_view text, size_t bytes, const std::string& source,
                  const TextTableOptions& options)
      : scanner_(text, options.delimiter, source, options.quotes),
        bytes_(bytes),
        source_(source),
        options_(options) {}

  TextTable read(const ChooseColumns& choose) {
    scanner_.row([&](size_t column, std::string_view cell) {
      require(column < kMaxColumns, ErrorKind::data, "{}:1: more than {} columns", source_, kMaxColumns);
      first_.emplace_back(cell);
    });
    table_.names = first_;
    if (!options_.header)
      for (size_t i = 0; i < first_.size(); ++i) table_.names[i] = std::to_string(i + 1);
    const std::vector<size_t> chosen = choose(table_.names);
    place_.assign(first_.size(), kNowhere);
    for (size_t i = 0; i < chosen.size(); ++i) {
      require(place_[chosen[i]] == kNowhere, ErrorKind::data,
              "{}: the column '{}' is chosen twice: texts, pairs and labels need columns of their own",
              source_, table_.names[chosen[i]]);
      place_[chosen[i]] = i;
    }
    row_.resize(chosen.size());
    table_.columns.resize(chosen.size());
    if (!options_.header) keep_first();
    while (next_row()) keep();
    require(table_.rows() > 0, ErrorKind::data, "{}: a header without rows", source_);
    return std::move(table_);
  }

 private:
  static constexpr size_t kNowhere = SIZE_MAX;

  void keep_first() {
    for (size_t column = 0; column < first_.size(); ++column)
      if (place_[column] != kNowhere) row_[place_[column]] = first_[column];
    keep();
  }

  /// Advances to the next row with as many cells as the first.
  bool next_row() {
    while (scanner_.row([&](size_t column, std::string_view cell) {
      if (column < place_.size() && place_[column] != kNowhere) row_[place_[column]] = cell;
    })) {
      if (scanner_.cells() == first_.size()) return true;
      require(options_.leave_out_broken, ErrorKind::data, "{}:{}: {} cell{}, but the first row has {}{}",
              source_, scanner_.line(), scanner_.cells(), scanner_.cells() == 1 ? "" : "s", first_.size(),
              options_.leave_out_advice);
      table_.left_out.add(static_cast<uint32_t>(scanner_.line()));
    }
    return false;
  }

  /// Whether the row repeats the header, as in files that were joined.
  bool repeats_header() const {
    if (!options_.header || row_.size() < 2) return false;
    for (size_t i = 0; i < row_.size(); ++i)
      if (row_[i] != name_of(i)) return false;
    return true;
  }

  void keep() {
    const int64_t line = scanner_.line();
    if (repeats_header()) return table_.left_out.add(static_cast<uint32_t>(line));
    for (size_t i = 0; i < row_.size(); ++i) {
      require(row_[i].size() <= options_.longest_cell, ErrorKind::data,
              "{}:{}: a text of {} bytes; the limit is {}", source_, line, row_[i].size(),
              options_.longest_cell);
      require(table_.columns[i].push_back(row_[i]), ErrorKind::data,
              "{}:{}: the column '{}' holds more than 4 GiB", source_, line, name_of(i));
    }
    table_.lines.push_back(static_cast<uint32_t>(line));
    if (table_.rows() % 65536 == 0) require_rows_fit(table_.rows(), bytes_, source_);
  }

  const std::string& name_of(size_t chosen) const {
    const auto found = std::find(place_.begin(), place_.end(), chosen);
    return table_.names[static_cast<size_t>(found - place_.begin())];
  }

  CsvScanner scanner_;
  size_t bytes_;
  const std::string& source_;
  const TextTableOptions& options_;
  std::vector<std::string> first_, row_;
  std::vector<size_t> place_;  // of each column in the chosen ones
  TextTable table_;
};

}  // namespace

void require_rows_fit(size_t rows, size_t bytes, const std::string& source) {
  constexpr size_t kFree = size_t{64} << 20;
  require(rows * kTextRowBytes <= bytes + kFree, ErrorKind::data,
          "{}: {} rows or more in {} bytes: they are too short to be texts", source, rows, bytes);
}

TextTable parse_text_table(std::span<const std::byte> bytes, const std::string& source,
                           const TextTableOptions& options, const ChooseColumns& choose) {
  const TextInput input(bytes, source);
  return TextTableReader(input.text(), bytes.size(), source, options).read(choose);
}

TextTable read_text_table(const std::string& path, const TextTableOptions& options,
                          const ChooseColumns& choose) {
  const MappedFile file(path);
  return parse_text_table(file.bytes(), path, options, choose);
}

}  // namespace modewise::io
