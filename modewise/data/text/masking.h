#pragma once
// Tokens hidden for masked training (Devlin et al. 2019, section 3.1), drawn anew for every batch (Liu et al.
// 2019, section 4.1).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/data/text/config.h"
#include "modewise/data/text/token_rows.h"

namespace modewise::data {

/// What is known of each of W ids, the marks behind the tokenizer's own among them.
struct MaskingVocabulary {
  int64_t mask = 0, tokens = 0;   // tokens: the tokenizer's own, from which others are drawn
  std::vector<bool> is_mark;      // [W]: never asked for
  std::vector<bool> starts_word;  // [W]: stands at the beginning of a word
};
/// A token begins a word where a space stands before it when it is decoded. Data error for a frame without
/// mask.
MaskingVocabulary masking_vocabulary(const text::Tokenizer& tokenizer, const text::TextFrame& frame);

struct MaskedRows {
  at::Tensor inputs;   // [B, n] int64, as the model sees it
  at::Tensor targets;  // [B, n] int64: the token that stood there; −1 where nothing is asked
};

/// Each token that is no mark (each word, with whole_words) is asked for with probability `share`; of those
/// asked for `hidden` become the mask, `exchanged` any token, drawn one by one. A batch in which nothing was
/// drawn asks for its first token that is no mark. A function of the ids and the stream: token i, counted
/// through all rows, draws from its words 4·i … 4·i + 2.
MaskedRows mask_rows(const at::Tensor& ids, const MaskingVocabulary& vocabulary, const MaskingConfig& config,
                     const RandomStream& stream);

}  // namespace modewise::data
