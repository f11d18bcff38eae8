#pragma once
// UTF-8 validation and coding as the Unicode standard defines it: no overlong forms, no surrogates, nothing
// beyond U+10FFFF.

#include <cstddef>
#include <string>
#include <string_view>

namespace modewise {

/// Length in bytes of the valid character at the front of `text`; 0 if there is none, or the text is empty.
size_t utf8_length(std::string_view text);

/// The code point of `character`, which is one valid character.
char32_t utf8_code_point(std::string_view character);

/// Offset of the first byte that is not part of valid UTF-8, or npos.
size_t find_invalid_utf8(std::string_view text);

/// The text after a byte order mark, if it has one.
std::string_view without_byte_order_mark(std::string_view text);

/// Appends the encoding of a code point up to U+10FFFF.
void append_utf8(std::string& text, char32_t code_point);

}  // namespace modewise
