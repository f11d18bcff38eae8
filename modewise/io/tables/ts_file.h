#pragma once
// .ts files of the UEA and UCR archives: series of one or more dimensions with classes, one sample per line,
// dimensions separated by ':' and values by ',', the class last.

#include <cstddef>
#include <span>
#include <string>

#include "modewise/io/tables/series_file.h"

namespace modewise::io {

/// Reads what aeon, sktime and timeseriesclassification.com write: header words in any case, class names in
/// quotes, comments that begin with # or %, the class '?' for unknown, one trailing comma, a trailing ':' of
/// samples without a class. Throws data errors that name file, line and rule: a header line that is
/// duplicate, malformed, or contradicts the samples (dimensions, equal lengths, classes); time stamps;
/// regression targets; a sample whose dimensions differ in length.
SeriesFile parse_ts(std::span<const std::byte> bytes, const std::string& source);
SeriesFile read_ts(const std::string& path);

}  // namespace modewise::io
