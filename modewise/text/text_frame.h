#pragma once
// What an encoder of text puts around one text or two: marks that open, part and close them, types that tell
// them apart, tokens that fill up and hide.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "modewise/text/added_tokens.h"
#include "modewise/text/tokenizer.h"

namespace modewise::text {

/// A text with its marks.
struct FramedText {
  std::vector<Tokenizer::Id> ids;
  std::vector<int32_t> types;
  std::vector<Tokenizer::Piece> pieces;  // of each token; a mark's begins and ends at 0
  std::vector<int8_t> texts;             // whose token it is: 0 first, 1 second, −1 a mark
  int64_t left_out = 0;                  // tokens that had no place
};

/// The frame that a tokenizer's file gives; of others [begin] A [end] B [end] with types 0 and 1. Marks that
/// the tokenizer lacks, padding and mask among them, get ids of their own behind its vocabulary: of what is
/// returned both are there.
TextFrame text_frame(const Tokenizer& tokenizer);

/// The frame of a file that has a template: padding and mask are the special tokens [PAD] or <pad>, [MASK] or
/// <mask>.
TextFrame made_frame(const io::TextTemplate& around, const AddedTokens& added, int64_t size);

/// At most `most` tokens, marks included: of a pair the longer text is cut first, then both to the same
/// length (as tokenizers' longest_first does), each at its end. Throws a config error when `most` leaves no
/// room for a token of each text, a data error for one without tokens.
FramedText frame_text(const Tokenizer& tokenizer, const TextFrame& frame, std::string_view first,
                      std::optional<std::string_view> second, int64_t maximum);

}  // namespace modewise::text
