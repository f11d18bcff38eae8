#pragma once
// Input checks of text encoders.

#include "modewise/models/text/text_encoder.h"

namespace modewise::models {

/// Throws data errors that name text and position (from 0): a token outside the vocabulary, an unknown token
/// type, a text without tokens.
void check_text_input(const TextInput& input, const TextModelConfig& config);

/// Checks that each text with tokens starts with one (`mask` [B, n]); data error that names the text.
void check_first_tokens(const at::Tensor& mask);

/// Checks that position ids `places` [B or 1, n] are within the position embedding table.
void check_places(const at::Tensor& places, const TextModelConfig& config);

}  // namespace modewise::models
