#include "modewise/io/tokenizers/character_map.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "modewise/core/error.h"

namespace modewise::io {
namespace {

static_assert(std::endian::native == std::endian::little, "units are read in the byte order of the file");

// Layout of a unit: bits 10 … 30 are the offset to the children (in steps of 256 if bit 9 is set), bit 8
// marks a node with a value, bits 0 … 7 and 31 are the label; a value unit has bit 31 set and 31 bits of
// value.
constexpr uint32_t kValueBit = 1u << 31;
constexpr size_t kLongestReplacement = 1024;  // bounds the growth of a text by a small file

size_t children(uint32_t unit) {
  return static_cast<size_t>(unit >> 10) << ((unit & (1u << 9)) >> 6);
}
bool has_value(uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
uint32_t label(uint32_t unit) {
  return unit & (kValueBit | 0xFF);
}

uint32_t trie_size(std::string_view map) {
  uint32_t size = 0;
  std::memcpy(&size, map.data(), sizeof(size));
  return size;
}

}  // namespace

CharacterMap::CharacterMap(std::string_view map)
    : trie_(map.substr(4, trie_size(map))), texts_(map.substr(4 + trie_.size())) {}

uint32_t CharacterMap::unit(size_t index) const {
  // Beyond the trie: a unit that matches no label, so that a walk that leaves the trie finds nothing.
  uint32_t value = kValueBit;
  if (index < trie_.size() / sizeof(value))
    std::memcpy(&value, trie_.data() + index * sizeof(value), sizeof(value));
  return value;
}

std::optional<CharacterMap::Rule> CharacterMap::longest(std::string_view text) const {
  std::optional<Rule> found;
  size_t node = children(unit(0));
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    const uint32_t here = unit(node);
    if (label(here) != byte) break;
    node ^= children(here);
    if (!has_value(here)) continue;
    const uint32_t place = unit(node) & ~kValueBit;
    if (place >= texts_.size()) break;
    const std::string_view rest = texts_.substr(place);
    found = Rule{rest.substr(0, rest.find('\0')), i + 1};
  }
  return found;
}

void check_character_map(std::string_view map, const std::string& source) {
  require(map.size() > 4, ErrorKind::data,
          "{}: the normaliser's character map has {} bytes; expected more than 4", source, map.size());
  const uint32_t size = trie_size(map);
  require(size % 4 == 0 && size > 0 && size < map.size() - 4, ErrorKind::data,
          "{}: the normaliser's character map declares a trie of {} bytes; expected a multiple of 4 below {}",
          source, size, map.size() - 4);
  require(map.back() == '\0', ErrorKind::data,
          "{}: the normaliser's character map must end with a zero byte, which ends its last replacement",
          source);
  for (size_t begin = 4 + size; begin < map.size();) {
    const size_t end = map.find('\0', begin);
    require(end - begin <= kLongestReplacement, ErrorKind::data,
            "{}: the normaliser's character map has a replacement of {} bytes; the limit is {}", source,
            end - begin, kLongestReplacement);
    begin = end + 1;
  }
  for (size_t at = 4; at < 4 + size; at += 4) {
    uint32_t unit;
    std::memcpy(&unit, map.data() + at, sizeof(unit));
    // Only values have bit 31 and a label that no byte matches; `longest` never reaches other units or
    // ignores them.
    require((unit & kValueBit) == 0 || (unit & ~kValueBit) < map.size() - 4 - size, ErrorKind::data,
            "{}: the normaliser's character map points to byte {} of {} bytes of replacements (at byte {})",
            source, unit & ~kValueBit, map.size() - 4 - size, at);
  }
}

}  // namespace modewise::io
