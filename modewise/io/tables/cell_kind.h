#pragma once
// Kinds of the cells and columns of a table: missing, number, date, text.

#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tables/csv.h"

namespace modewise::io {

/// Kind of a single cell.
enum class CellKind {
  missing,
  number,
  date,
  text,
  mark,  // missing in a column of numbers, else text (is_missing_mark)
};

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

/// With `plain` only plain numbers are numbers, and there are no marks.
CellKind kind_of(std::string_view text, char decimal, const MissingValues& missing, bool plain = false);

/// The kind of a column by the numbers of cells of each kind.
CsvColumn::Kind majority_of(size_t numbers, size_t dates, size_t texts, size_t marks);

}  // namespace modewise::io
