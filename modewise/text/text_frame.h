#pragma once
// Input format of text encoders for one text or a pair: special tokens, token types, padding and mask tokens.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "modewise/text/added_tokens.h"
#include "modewise/text/tokenizer.h"

namespace modewise::text {

/// A tokenized text with special tokens.
struct FramedText {
  std::vector<Tokenizer::Id> ids;
  std::vector<int32_t> types;
  std::vector<Tokenizer::Piece> pieces;  // per token; begin = end = 0 for special tokens
  std::vector<int8_t> texts;             // per token: 0 first text, 1 second text, −1 special token
  int64_t left_out = 0;                  // number of truncated tokens
};

/// The frame of the tokenizer's file; otherwise [begin] A [end] B [end] with types 0 and 1. Missing special
/// tokens, including padding and mask, get new ids after the vocabulary: the result always has both.
TextFrame text_frame(const Tokenizer& tokenizer);

/// The frame of a file with a template: padding is [PAD] or <pad>, mask is [MASK] or <mask>.
TextFrame made_frame(const io::TextTemplate& around, const AddedTokens& added, int64_t size);

/// Encodes at most `maximum` tokens, special tokens included: truncates the longer text of a pair first, then
/// both to the same length (longest_first), at the end or where the tokenizer says. Throws a config error if
/// `maximum` is too small for one token of each text, a data error for a text without tokens.
FramedText frame_text(const Tokenizer& tokenizer, const TextFrame& frame, std::string_view first,
                      std::optional<std::string_view> second, int64_t maximum);

}  // namespace modewise::text
