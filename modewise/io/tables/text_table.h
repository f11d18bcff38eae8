#pragma once
// Delimited tables with text cells: reads selected columns without type detection. Quoting is an option:
// GLUE's TSV files have none.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/tables/text_cells.h"

namespace modewise::io {

struct TextTableOptions {
  char delimiter = '\t';
  bool quotes = false;
  bool header = true;
  bool leave_out_broken = false;  // skip rows with another number of cells than the first
  size_t longest_cell = size_t{1} << 20;
  std::string leave_out_advice;  // appended to the error about such a row
};

/// Skipped rows.
struct LeftOutRows {
  int64_t count = 0;
  uint32_t first_line = 0;  // in the file, from 1

  void add(uint32_t line) { first_line = count++ == 0 ? line : std::min(first_line, line); }
};

struct TextTable {
  std::vector<std::string> names;  // of the header; "1", "2", … without one
  std::vector<TextCells> columns;  // the chosen ones, in their order
  std::vector<uint32_t> lines;     // of each row in the file, from 1
  LeftOutRows left_out;

  size_t rows() const { return lines.size(); }
};

/// Selects the columns to keep from all names.
using ChooseColumns = std::function<std::vector<size_t>(const std::vector<std::string>& names)>;

/// Throws data errors with file and line: empty input, a header without rows, a row with another number of
/// cells than the first, an unclosed quote, a cell over the length limit, invalid UTF-8, NUL bytes, rows so
/// short that they would take more memory than twice the file's size plus 64 MiB. Memory: the characters and
/// 4 bytes per kept cell, and 4 bytes per row.
TextTable parse_text_table(std::span<const std::byte> bytes, const std::string& source,
                           const TextTableOptions& options, const ChooseColumns& choose);
TextTable read_text_table(const std::string& path, const TextTableOptions& options,
                          const ChooseColumns& choose);

/// Upper bound for the bytes per row, besides its texts, of the data built from a table.
inline constexpr size_t kTextRowBytes = 64;
/// Throws a data error if `rows` rows of a file of `bytes` bytes would exceed the memory limit.
void require_rows_fit(size_t rows, size_t bytes, const std::string& source);

}  // namespace modewise::io
