#pragma once
// What every reader of text checks first.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace modewise::io {

/// The text after a byte order mark. Throws data errors when the file is empty, holds only empty lines, NUL
/// bytes, UTF-16 or bytes that are not UTF-8, with line and byte.
std::string_view checked_text(std::span<const std::byte> bytes, const std::string& source);

/// Lines that are not empty: how many rows a table of text can have, but for line ends within quotes.
size_t count_filled_lines(std::string_view text);

}  // namespace modewise::io
