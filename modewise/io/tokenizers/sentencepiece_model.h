#pragma once
// The .model file of sentencepiece: a protocol buffer (sentencepiece_model.proto) with pieces, scores and
// types, how the vocabulary was trained, and how text is normalised before it is cut.

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
  std::vector<float> scores;  // a piece
  std::vector<Type> types;    // a piece

  bool byte_fallback = false;                           // characters without a piece become their bytes
  bool add_dummy_prefix = true;                         // a space is put in front
  bool remove_extra_whitespaces = true;                 // at both ends, and runs become one
  bool escape_whitespaces = true;                       // spaces become U+2581
  bool whitespace_as_suffix = false;                    // the space that is added goes behind
  std::string normalizer;                               // its name: "identity", "nmt_nfkc", …
  std::string character_map;                            // its compiled rules, checked; empty: none
  std::string unknown_text = " \u2047 ";                // what an unknown piece is shown as
  int32_t unknown = 0, begin = -1, end = -1, pad = -1;  // ids; -1: none
};

/// The character that stands for a space within pieces, U+2581.
inline constexpr std::string_view kSpacePiece = "\xE2\x96\x81";

/// Throws data errors that name `source`, the place and the rule.
SentencePieceModel parse_sentencepiece_model(std::span<const std::byte> bytes, const std::string& source);
SentencePieceModel read_sentencepiece_model(const std::string& path);

}  // namespace modewise::io
