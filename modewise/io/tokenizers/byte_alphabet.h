#pragma once
// The alphabet in which byte-level vocabularies write bytes (GPT-2's): printable Latin-1 characters stand for
// themselves, the other bytes for U+0100 and what follows, in order.

#include <optional>
#include <string>
#include <string_view>

namespace modewise::io {

/// The bytes that `text` writes, or nothing when it holds a character outside the alphabet.
std::optional<std::string> bytes_of_alphabet(std::string_view text);

/// The character that stands for a byte, as UTF-8.
std::string alphabet_character(unsigned char byte);

}  // namespace modewise::io
