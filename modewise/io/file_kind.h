#pragma once
// Binary formats by their first bytes.

#include <string_view>

namespace modewise::io {

/// "a PNG image", "a gzip file" and so on for a file that begins with `bytes`; empty if it is none of the
/// known formats. `bytes` should be the whole file, or at least its first 512 bytes.
std::string_view file_kind(std::string_view bytes);

}  // namespace modewise::io
