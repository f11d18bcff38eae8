#pragma once
// Whether a batch of texts fits an encoder's tables.

#include "modewise/models/text/text_encoder.h"

namespace modewise::models {

/// Throws data errors that name text and place (from 0): a token that is none of the vocabulary, a type that
/// is none of the types, a text without tokens.
void check_text_input(const TextInput& input, const TextModelConfig& config);

/// Of `mask` [B, n] the first token of each text is true: a data error that names the text where it has
/// tokens, but not there.
void check_first_tokens(const at::Tensor& mask);

/// `places` [B or 1, n] are rows of the table of positions, the greatest of which must be in it.
void check_places(const at::Tensor& places, const TextModelConfig& config);

}  // namespace modewise::models
