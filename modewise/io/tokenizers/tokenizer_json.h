#pragma once
// The tokenizer.json of Hugging Face's tokenizers, as far as byte-level BPE and BERT's WordPiece go:
// vocabulary, merges, tokens that were added, and how text is split before. What is there and not understood
// is refused by name.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/tokenizers/text_template.h"
#include "modewise/io/tokenizers/token_table.h"

namespace modewise::io {

/// Which of BERT's changes of a text are made, in this order.
struct BertNormalizing {
  bool clean_text = true;     // controls go, spaces become plain ones
  bool space_chinese = true;  // spaces around Chinese characters
  bool strip_accents = true;
  bool lower_case = true;
};

/// What WordPiece has besides a vocabulary.
struct WordPieceRules {
  int32_t unknown = 0;            // the token of a word that no pieces make
  std::string continuing = "##";  // before a piece that is not a word's first
  int64_t longest_word = 100;     // in characters; longer ones are unknown
  std::optional<BertNormalizing> normalizing = {};
};

struct TokenizerJson {
  /// A token that is looked for in the text before it is split.
  struct AddedToken {
    int32_t id = 0;
    std::string content;
    bool special = false, left_strip = false, right_strip = false;
    bool normalized = false;  // looked for after those that are not
  };
  struct Merge {
    int32_t left, right, result;
  };
  /// One step of the splitting into words.
  struct Step {
    enum class Kind : uint8_t { split, digits, byte_level };
    enum class Behavior : uint8_t { isolated, removed, merged_with_previous, merged_with_next, contiguous };
    Kind kind = Kind::byte_level;
    std::string pattern;                     // split: a regular expression of Oniguruma (Ruby's syntax), or
    bool literal = false;                    // split: a plain text
    bool invert = false;                     // split
    Behavior behavior = Behavior::isolated;  // split
    bool individual_digits = false;          // digits
    bool add_prefix_space = false;           // byte_level
    bool gpt2_pattern = true;                // byte_level: splits by GPT-2's expression too
  };

  /// Texts as bytes, of byte-level BPE decoded from its alphabet; not of added tokens alone.
  TokenTable vocabulary;
  std::vector<Merge> merges;  // the first is merged first
  std::vector<AddedToken> added;
  std::vector<Step> steps;                   // the last is byte_level; WordPiece has none
  bool ignore_merges = false;                // a word that is a token is taken whole
  std::optional<int32_t> begin, end;         // that the post-processor puts around a text
  TextTemplate around;                       // what it puts around texts, as a whole
  int32_t size = 0;                          // the largest id and one
  std::optional<WordPieceRules> word_piece;  // of the model WordPiece; no merges then
};

/// Throws data errors that name `source`, the place and the rule.
TokenizerJson parse_tokenizer_json(std::span<const std::byte> bytes, const std::string& source);
TokenizerJson read_tokenizer_json(const std::string& path);

}  // namespace modewise::io
