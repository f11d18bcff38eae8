#pragma once
// CSV dialect detection from the first rows: delimiter, decimal mark, header.

#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tables/csv.h"

namespace modewise::io {

/// Limit for hostile files: a column takes some hundred bytes of memory, but only one byte of the file.
inline constexpr size_t kCsvColumnLimit = 100'000;

/// Kind of a single cell.
enum class CellKind { missing, number, date, text };

/// Recognises missing cells.
class MissingValues {
 public:
  MissingValues(const std::vector<std::string>& marks, char decimal);
  bool contains(std::string_view text) const;
  /// For numeric marks such as -9999.
  bool contains(double value) const;

 private:
  std::vector<std::string> texts_;
  std::vector<double> numbers_;
};

CellKind kind_of(std::string_view text, char decimal, const MissingValues& missing);

struct CsvDialect {
  char delimiter = ',';
  char decimal = '.';
  bool header = true;
  std::string suspect_row;             // as in CsvTable
  std::vector<CsvColumn::Kind> kinds;  // column kinds by the first rows
};

/// `text` must have at least one row.
CsvDialect guess_dialect(std::string_view text, const std::string& source, const CsvOptions& options);

}  // namespace modewise::io
