#pragma once
// Masking for masked language modelling (Devlin et al. 2019, section 3.1), dynamic for every batch (Liu et
// al. 2019, section 4.1).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/data/text/config.h"
#include "modewise/data/text/token_rows.h"

namespace modewise::data {

/// Properties of W token ids, including special tokens added after the tokenizer's own.
struct MaskingVocabulary {
  int64_t mask = 0, tokens = 0;        // tokens: vocabulary size for random tokens
  std::vector<bool> is_special_token;  // [W]: special token, never masked
  std::vector<bool> starts_word;       // [W]: first token of a word
};
/// A token begins a word if its text begins with a space. Data error for a frame without a mask token.
MaskingVocabulary masking_vocabulary(const text::Tokenizer& tokenizer, const text::TextFrame& frame);

struct MaskedRows {
  at::Tensor inputs;   // [B, n] int64, model input
  at::Tensor targets;  // [B, n] int64: original token; −1: not predicted
};

/// Selects each token (each word, with whole_words) except special tokens at the mask rate; selected tokens
/// become the mask token, a random token, or stay, by the probabilities of `config`. If none is selected in a
/// batch, its first token that is not special is. Deterministic in ids and stream: token i, counted through
/// all rows, uses random words 4·i … 4·i + 2.
MaskedRows mask_rows(const at::Tensor& ids, const MaskingVocabulary& vocabulary, const MaskingConfig& config,
                     const RandomStream& stream);

}  // namespace modewise::data
