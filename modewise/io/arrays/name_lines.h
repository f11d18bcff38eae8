#pragma once
// Names as an array of bytes, one name per line.

#include <span>
#include <string>

#include "modewise/io/arrays/npy.h"

namespace modewise::io {

/// The names in UTF-8, each with a line end; line breaks within a name become spaces.
Array name_lines(std::span<const std::string> names);

}  // namespace modewise::io
