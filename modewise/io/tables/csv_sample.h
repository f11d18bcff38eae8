#pragma once
// The first rows of a CSV file, from which its dialect is guessed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tables/cell_kind.h"
#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/csv_scanner.h"

namespace modewise::io {

/// Limit for hostile files: a column takes some hundred bytes of memory, but only one byte of the file.
inline constexpr size_t kCsvColumnLimit = 100'000;

using CsvRow = std::vector<std::string>;

struct CsvSample {
  std::vector<CsvRow> rows;
  std::vector<int64_t> lines;  // where they begin
  bool broken = false;         // the row after them cannot be split with this delimiter
};

CsvSample read_csv_sample(std::string_view text, char delimiter, const std::string& source,
                          const LeftOutLines& left_out);

/// The kinds of the first `columns` columns, by the rows from `first` on. `plain`: as in kind_of.
std::vector<CsvColumn::Kind> guess_csv_kinds(const std::vector<CsvRow>& rows, size_t first, size_t columns,
                                             char decimal, const MissingValues& missing, bool plain);

}  // namespace modewise::io
