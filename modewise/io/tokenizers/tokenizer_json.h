#pragma once
// Hugging Face tokenizer.json for byte-level BPE, BPE converted from sentencepiece (Llama), and BERT's
// WordPiece: vocabulary, merges, added tokens, pre-tokenization. Unsupported components are refused by name.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/tokenizers/text_template.h"
#include "modewise/io/tokenizers/token_table.h"

namespace modewise::io {

/// Options of BERT's text normalisation, applied in this order.
struct BertNormalizing {
  bool clean_text = true;     // control characters are removed, white space becomes ' '
  bool space_chinese = true;  // spaces around Chinese characters
  bool strip_accents = true;
  bool lower_case = true;
  bool operator==(const BertNormalizing&) const = default;
};

/// Settings of WordPiece besides the vocabulary.
struct WordPieceRules {
  int32_t unknown = 0;            // id for a word that cannot be split into pieces
  std::string continuing = "##";  // prefix of pieces inside a word
  int64_t longest_word = 100;     // in characters; longer ones are unknown
  std::optional<BertNormalizing> normalizing = {};
};

/// Spaces of a BPE over characters with byte fallback, as converted from sentencepiece: they become U+2581,
/// and one is prepended.
struct MetaspaceRules {
  enum class Prepend : uint8_t {
    none,
    always,   // the normalizer Prepend: also before a text that begins with a space
    missing,  // Metaspace "always": unless the text begins with a space
    first,    // Metaspace "first": the same, only at the start of the whole text
  };
  Prepend prepend = Prepend::none;
  bool normalizes = false;   // the normalizer replaces spaces, before normalized added tokens are matched
  bool split = false;        // words do not merge with each other, each begins with a space
  bool strip_space = false;  // decoding drops a space at the start
};

struct TokenizerJson {
  /// A token that is matched in the text before pre-tokenization.
  struct AddedToken {
    int32_t id = 0;
    std::string content;
    bool special = false, left_strip = false, right_strip = false;
    bool normalized = false;  // matched after those that are not
    bool operator==(const AddedToken&) const = default;
  };
  struct Merge {
    int32_t left, right, result;
  };
  /// One pre-tokenization step.
  struct Step {
    enum class Kind : uint8_t { split, digits, byte_level };
    enum class Behavior : uint8_t { isolated, removed, merged_with_previous, merged_with_next, contiguous };
    Kind kind = Kind::byte_level;
    std::string pattern;                     // split: a regular expression of Oniguruma (Ruby's syntax), or
    bool literal = false;                    // split: a literal string
    bool invert = false;                     // split
    Behavior behavior = Behavior::isolated;  // split
    bool individual_digits = false;          // digits
    bool add_prefix_space = false;           // byte_level
    bool gpt2_pattern = true;                // byte_level: also splits by GPT-2's pattern
  };

  /// Texts as bytes (byte-level BPE: decoded from its alphabet), without tokens that are only added. Byte
  /// fallback: "<0x00>" to "<0xFF>" are tokens.
  TokenTable vocabulary;
  std::vector<Merge> merges;  // in order of priority
  std::vector<AddedToken> added;
  std::vector<Step> steps;                   // the last is byte_level; WordPiece has none
  bool ignore_merges = false;                // a word that is a token is not split
  std::optional<int32_t> begin, end;         // put around a text by the post-processor
  TextTemplate around;                       // the complete template of the post-processor
  int32_t size = 0;                          // largest id plus one
  bool truncates_begin = false;              // "direction" of "truncation" is "Left"
  std::optional<WordPieceRules> word_piece;  // for WordPiece models, which have no merges
  std::optional<MetaspaceRules> metaspace;   // for BPE over characters, which has no steps
};

/// Throws data errors that name `source`, offset and rule.
TokenizerJson parse_tokenizer_json(std::span<const std::byte> bytes, const std::string& source);

}  // namespace modewise::io
