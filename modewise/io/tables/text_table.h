#pragma once
// Tables whose cells stay the texts that they are: of delimited files those columns that are asked for. What
// a quotation mark means the caller says: in GLUE's TSV nothing.

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
  bool leave_out_broken = false;  // rows of another number of cells than the first has
  size_t longest_cell = size_t{1} << 20;
  std::string leave_out_advice;  // behind the message about such a row
};

/// Rows that could not be read.
struct LeftOutRows {
  int64_t count = 0;
  uint32_t first_line = 0;  // in the file, from 1

  void add(uint32_t line) { first_line = count++ == 0 ? line : std::min(first_line, line); }
};

struct TextTable {
  std::vector<std::string> names;  // of the header; "1", "2", … without one
  std::vector<TextCells> columns;  // those that were chosen, in their order
  std::vector<uint32_t> lines;     // of each row in the file, from 1
  LeftOutRows left_out;

  size_t rows() const { return lines.size(); }
};

/// The columns to keep, by the names of all.
using ChooseColumns = std::function<std::vector<size_t>(const std::vector<std::string>& names)>;

/// Throws data errors with file and line: empty input, a header without rows, a row of another number of
/// cells than the first, an open quote, a cell longer than it may be, bytes that are not UTF-8, NUL bytes,
/// rows so short that they would take more memory than twice the file's size and 64 MiB. Memory: each kept
/// cell's characters and 4 bytes, and 4 bytes a row.
TextTable parse_text_table(std::span<const std::byte> bytes, const std::string& source,
                           const TextTableOptions& options, const ChooseColumns& choose);
TextTable read_text_table(const std::string& path, const TextTableOptions& options,
                          const ChooseColumns& choose);

/// Bytes that a row may come to in memory, besides its texts, in what is made of a table.
inline constexpr size_t kTextRowBytes = 64;
/// Data error where so many rows of a file of `bytes` would take more than it may.
void require_rows_fit(size_t rows, size_t bytes, const std::string& source);

}  // namespace modewise::io
