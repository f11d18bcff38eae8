#pragma once
// Column names by which a table of samples tells its index and its classes.

#include <string_view>

namespace modewise::io {

/// id, index, sample, sample_id, row, "Unnamed: 0" (pandas) …, in any case.
bool names_an_index(std::string_view name);
/// label, class, target or y, in any case.
bool names_a_class(std::string_view name);

}  // namespace modewise::io
