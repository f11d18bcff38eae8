#pragma once
// Unicode White_Space at the ends of a text.

#include <cstddef>
#include <string_view>

namespace modewise::text {

/// Whether a character is White_Space.
bool is_white_space(char32_t c);
/// Bytes of white space at the end of `text`.
size_t white_space_before(std::string_view text);
/// Bytes of white space at the front of `text`.
size_t white_space_after(std::string_view text);

}  // namespace modewise::text
