#pragma once
// Kinds of files by their first bytes, for error messages about files of another kind than expected.

#include <cstddef>
#include <span>
#include <string_view>

namespace modewise::io {

/// "a GIF image", "an HTML page", "an empty file"; "" if the bytes tell nothing.
std::string_view file_kind(std::span<const std::byte> bytes);

}  // namespace modewise::io
