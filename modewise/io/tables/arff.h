#pragma once
// ARFF files of series with classes, as Weka and the UEA and UCR archives write them: one numeric attribute
// per step and one nominal attribute, the class; multivariate series have one relational attribute, a quoted
// cell with one line per dimension.

#include <cstddef>
#include <span>
#include <string>

#include "modewise/io/tables/series_file.h"

namespace modewise::io {

/// Trailing missing values ('?', NaN) in all dimensions end the series of a sample. The class '?' is unknown;
/// if every class is '?', the samples have no labels. Cells are separated by commas, or in rows without
/// commas by tabs; one trailing comma is ignored. Throws data errors that name file, line and rule: string or
/// date attributes, two nominal attributes, a numeric class (regression), a numeric attribute that is named
/// like an index of the samples, sparse rows, a row with another number of cells than declared, a class that
/// is not declared.
SeriesFile parse_arff(std::span<const std::byte> bytes, const std::string& source);
SeriesFile read_arff(const std::string& path);

}  // namespace modewise::io
