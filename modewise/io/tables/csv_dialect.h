#pragma once
// What a table's first rows tell about how it is written: delimiter, decimal mark, header.

#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tables/csv.h"

namespace modewise::io {

/// A column costs some hundred bytes of memory, but one of a hostile file only one byte.
inline constexpr size_t kCsvColumnLimit = 100'000;

/// What a cell looks like on its own.
enum class CellKind { missing, number, date, text };

/// Tells missing cells from others.
class MissingValues {
 public:
  MissingValues(const std::vector<std::string>& marks, char decimal);
  bool contains(std::string_view text) const;
  /// Marks such as -9999 that are numbers.
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
  std::string doubtful_row;            // as in CsvTable
  std::vector<CsvColumn::Kind> kinds;  // of the columns, by the first rows
};

/// `text` must hold a row at least.
CsvDialect guess_dialect(std::string_view text, const std::string& source, const CsvOptions& options);

}  // namespace modewise::io
