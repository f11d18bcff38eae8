#pragma once
// ARFF files of labelled series, as Weka and the UEA and UCR archives write them: a numeric attribute a step
// and one nominal attribute, the class; of several dimensions one relational attribute, a quoted cell of
// lines, one a dimension.

#include <cstddef>
#include <span>
#include <string>

#include "modewise/io/tables/labelled_series_file.h"

namespace modewise::io {

/// Missing values ('?', NaN) that end a case in all dimensions end its series. Where every class is '?' the
/// cases have no labels. Throws data errors that name file, line and the rule: attributes of texts or dates,
/// two that could be the class, sparse rows, a row that has not the declared cells, a class that is not
/// declared or missing in some rows.
LabelledSeriesFile parse_arff(std::span<const std::byte> bytes, const std::string& source);
LabelledSeriesFile read_arff(const std::string& path);

}  // namespace modewise::io
