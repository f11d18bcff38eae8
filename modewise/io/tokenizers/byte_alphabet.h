#pragma once
// Byte-to-character map of byte-level BPE (GPT-2): printable Latin-1 characters map to themselves, the other
// bytes to U+0100 and following, in order.

#include <optional>
#include <string>
#include <string_view>

namespace modewise::io {

/// Decodes `text` to bytes; nullopt if it has a character outside the alphabet.
std::optional<std::string> bytes_of_alphabet(std::string_view text);

/// The character of a byte, as UTF-8.
std::string alphabet_character(unsigned char byte);

}  // namespace modewise::io
