#include "modewise/io/tokenizers/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

struct Alphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, 512> byte{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.byte.fill(-1);
  uint16_t next = 256;
  for (uint16_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    alphabet.character[byte] = printable ? byte : next++;
    alphabet.byte[alphabet.character[byte]] = static_cast<int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::optional<std::string> bytes_of_alphabet(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    auto character = static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
    if (character >= 0x80) {
      // The whole alphabet lies below U+0200: one or two bytes.
      if (character < 0xC2 || character > 0xC7 || i + 1 == text.size()) return std::nullopt;
      character = (character & 0x1F) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3F);
    }
    const int16_t byte = kAlphabet.byte[character];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

std::string alphabet_character(unsigned char byte) {
  std::string text;
  append_utf8(text, kAlphabet.character[byte]);
  return text;
}

}  // namespace modewise::io
