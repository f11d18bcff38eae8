#pragma once
// ARFF files of series with classes, as Weka and the UEA and UCR archives write them: one numeric attribute
// per step and one nominal attribute, the class; multivariate series have one relational attribute, a quoted
// cell with one line per dimension.

#include <cstddef>
#include <span>
#include <string>

#include "modewise/io/tables/series_file.h"

namespace modewise::io {

/// Trailing missing values ('?', NaN) in all dimensions end the series of a sample. If every class is '?',
/// the samples have no labels. Throws data errors that name file, line and rule: string or date attributes,
/// two nominal attributes, sparse rows, a row with another number of cells than declared, a class that is not
/// declared or missing in some rows.
SeriesFile parse_arff(std::span<const std::byte> bytes, const std::string& source);
SeriesFile read_arff(const std::string& path);

}  // namespace modewise::io
