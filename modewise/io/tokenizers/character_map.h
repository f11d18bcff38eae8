#pragma once
// sentencepiece's precompiled_charsmap: a double-array trie (Aoe 1989, in the layout of the Darts library)
// from texts to offsets of zero-terminated replacements. The first 4 bytes are the trie's size.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace modewise::io {

class CharacterMap {
 public:
  struct Rule {
    std::string_view becomes;
    size_t bytes;  // of the text that the rule replaces
  };

  /// `map` must have passed check_character_map and outlive this.
  explicit CharacterMap(std::string_view map);

  /// The rule for the longest prefix of `text` that has one.
  std::optional<Rule> longest(std::string_view text) const;

 private:
  uint32_t unit(size_t index) const;

  std::string_view trie_, texts_;
};

/// Throws a data error that names `source` unless all sizes are valid and every walk stays in the map.
void check_character_map(std::string_view map, const std::string& source);

}  // namespace modewise::io
