#pragma once
// Kinds of files by their first bytes, for error messages about files of another kind than expected.

#include <cstddef>
#include <span>
#include <string_view>

namespace modewise::io {

/// "a PNG image", "an HTML page", "an empty file"; "" if the bytes tell nothing. `bytes` should be the whole
/// file, or at least its first 512 bytes.
std::string_view file_kind(std::span<const std::byte> bytes);
/// The same for binary formats alone: "" for an HTML page, an empty file, and texts that begin as a binary
/// format may.
std::string_view binary_kind(std::span<const std::byte> bytes);

}  // namespace modewise::io
