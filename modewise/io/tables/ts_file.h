#pragma once
// .ts files of the UEA and UCR archives: labelled series of one or more dimensions, one sample per line,
// dimensions separated by ':' and values by ',', the class last.

#include <cstddef>
#include <span>
#include <string>

#include "modewise/io/tables/labelled_series_file.h"

namespace modewise::io {

/// Throws data errors that name file, line and rule: a header line that is duplicate, malformed, or
/// contradicts the samples (dimensions, equal lengths, missing values, classes); time stamps; a sample whose
/// dimensions differ in length.
LabelledSeriesFile parse_ts(std::span<const std::byte> bytes, const std::string& source);
LabelledSeriesFile read_ts(const std::string& path);

}  // namespace modewise::io
