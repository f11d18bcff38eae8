#pragma once
// Cells of tables of labels: ids, file names and classes, which are texts whatever they look like, such as
// 007 or 2020-01-01.

#include <string>
#include <string_view>

#include "modewise/io/tables/text_cells.h"

namespace modewise::data {

/// The text of a cell; "" if it is missing (CsvOptions::missing).
std::string_view cell_text(std::string_view cell);

/// A whole number in the form of an integer, as pandas writes the integers 1.0 of a column with missing
/// cells; other texts as written, also with leading zeros and above 2^53.
std::string without_fraction(std::string_view text, char decimal);

/// The names of the classes in a column.
class ClassNames {
 public:
  ClassNames(const io::TextCells& cells, char decimal);

  /// The class of a cell, without_fraction() unless that makes two texts of the column equal; "": missing.
  std::string of(std::string_view cell) const;

 private:
  char decimal_;
  bool as_written_ = false;
};

}  // namespace modewise::data
