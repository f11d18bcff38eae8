#pragma once
// sentencepiece .model file: a protocol buffer (sentencepiece_model.proto) with pieces, scores and types, the
// training settings, and the normalisation of text before tokenization.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/tokenizers/token_table.h"

namespace modewise::io {

struct SentencePieceModel {
  enum class Algorithm : uint8_t { unigram = 1, bpe = 2 };
  enum class Type : uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

  Algorithm algorithm = Algorithm::unigram;
  TokenTable pieces;
  std::vector<float> scores;  // per piece
  std::vector<Type> types;    // per piece

  bool byte_fallback = false;                           // unknown characters become byte pieces
  bool add_dummy_prefix = true;                         // a space is prepended
  bool remove_extra_whitespaces = true;                 // trimmed at both ends, and runs become one
  bool escape_whitespaces = true;                       // spaces become U+2581
  bool whitespace_as_suffix = false;                    // the dummy prefix is appended instead
  std::string normalizer;                               // name: "identity", "nmt_nfkc", …
  std::string character_map;                            // compiled rules, checked; empty: none
  std::string unknown_text = " \u2047 ";                // decoded text of an unknown piece
  int32_t unknown = 0, begin = -1, end = -1, pad = -1;  // ids; -1: none
};

/// The space character in pieces, U+2581.
inline constexpr std::string_view kSpacePiece = "\xE2\x96\x81";

/// Throws data errors that name `source`, offset and rule.
SentencePieceModel parse_sentencepiece_model(std::span<const std::byte> bytes, const std::string& source);

}  // namespace modewise::io
