#pragma once
// Lines and cells of a table's file, for errors.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// File lines of a table's rows, for errors; found by reading the file again.
class TableLines {
 public:
  explicit TableLines(const io::CsvTable& table)
      : path_(table.source),
        delimiter_(table.delimiter),
        left_out_(table.left_out),
        file_rows_(table.file_rows),
        had_header_(table.had_header) {}
  const std::string& path() const { return path_; }
  int64_t operator()(int64_t row) const;

 private:
  std::string path_;
  char delimiter_;
  io::LeftOutLines left_out_;
  std::vector<int64_t> file_rows_;
  bool had_header_;
};

/// "'12' in line 5".
std::string cell_with_line(const io::CsvTable& table, const io::CsvColumn& column, size_t row);

/// The first row with a value, or the last row if there is none.
size_t first_filled(const io::CsvColumn& column);

}  // namespace modewise::data
