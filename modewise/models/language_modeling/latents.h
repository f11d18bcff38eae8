#pragma once
// Transfer of latents (summary tokens) to a language model with another fold or number of summary tokens.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/language_model.h"

namespace modewise::models {

/// Looks up saved latents [levels, G, r, d] by parameter name; undefined: none.
using FindLatents = std::function<at::Tensor(const std::string& name)>;

/// Sets the latents of every layer in place: existing levels and summary tokens are kept, new ones
/// initialized as nn::start_latents. Levels count from the tokens, because a latent has learned which rows to
/// attend to (tokens, their summaries, …), not how many of them make a block. Returns one sentence for each
/// initialized or ignored part; empty if everything was kept.
std::vector<std::string> take_latents(LanguageModel& model, const FindLatents& find);

}  // namespace modewise::models
