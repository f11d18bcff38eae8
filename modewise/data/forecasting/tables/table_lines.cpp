#include "modewise/data/forecasting/tables/table_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "modewise/io/mapped_file.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/text_input.h"

namespace modewise::data {

int64_t TableLines::operator()(int64_t row) const {
  if (!file_rows_.empty()) row = file_rows_[static_cast<size_t>(row)];
  const io::MappedFile file(path_);
  const io::TextInput input(file.bytes(), path_);
  io::CsvScanner scanner(input.text(), delimiter_, path_);
  scanner.leave_out(left_out_);
  const auto skip_cell = [](size_t, std::string_view) {};
  for (int64_t at = had_header_ ? -1 : 0; scanner.row(skip_cell) && at < row; ++at) {
  }
  return scanner.line();
}

std::string cell_with_line(const io::CsvTable& table, const io::CsvColumn& column, size_t row) {
  const std::string cell = column.kind == io::CsvColumn::text ? std::string(column.texts[row])
                                                              : fmt::format("{}", column.numbers[row]);
  return fmt::format("'{}' in line {}", cell, TableLines(table)(static_cast<int64_t>(row)));
}

size_t first_filled(const io::CsvColumn& column) {
  size_t row = 0;
  if (column.kind == io::CsvColumn::text)
    while (row + 1 < column.texts.size() && column.texts[row].empty()) ++row;
  else
    while (row + 1 < column.numbers.size() && std::isnan(column.numbers[row])) ++row;
  return row;
}

}  // namespace modewise::data
