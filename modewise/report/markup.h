#pragma once
// HTML and XML escaping, data URLs, and text measurement.

#include <string>
#include <string_view>

namespace modewise::report {

/// Escapes & < > " ' for element content and attribute values; control characters and bytes that are not
/// UTF-8 become U+FFFD, so the result is always well-formed.
std::string escape_markup(std::string_view text);

/// RFC 4648 with padding, for data URLs.
std::string base64(std::string_view bytes);

/// One line of a table: line breaks and tabs become spaces, the rest is escaped as by escape_text.
std::string printable(std::string_view text);

/// Display width of UTF-8 `text` in terminal columns: combining marks 0, wide East Asian characters 2.
int display_width(std::string_view text);

/// Approximate width in pixels in a sans-serif font of `size` pixels, rather too wide.
double text_width(std::string_view text, double size);

/// At most `characters` characters, with an ellipsis at the end if truncated.
std::string shorten(std::string_view text, int characters);

}  // namespace modewise::report
