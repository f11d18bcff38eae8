#pragma once
// Character classes of the caption tokenizer.

#include <cstddef>
#include <string>
#include <string_view>

#include "modewise/io/ascii.h"

namespace modewise::text {

enum class PtbKind {
  letter,
  digit,
  space,
  apostrophe,  // ' and ’
  mark,        // punctuation, dropped if alone: quotes, dashes, . , ; : …
  hyphen,      // - _ ‐: joins the parts on both sides
  symbol,      // a token of its own
};

struct PtbCharacter {
  PtbKind kind = PtbKind::space;
  size_t bytes = 1;
};

/// The character at the front of non-empty `text`. An invalid UTF-8 byte is a space.
PtbCharacter ptb_character(std::string_view text);

/// Lower case of ASCII, Latin, Greek and Cyrillic letters.
std::string ptb_lower_case(std::string_view text);

inline bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
inline bool is_ascii_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

}  // namespace modewise::text
