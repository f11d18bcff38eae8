#pragma once
// The latents of a language model whose fold or slots are others than those of the weights it is made from.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/language_model.h"

namespace modewise::models {

/// The latents [levels, G, r, d] that there were under a parameter's name; undefined: none.
using FindLatents = std::function<at::Tensor(const std::string& name)>;

/// Sets the latents of every layer, in place: a level and a slot that were there are kept, the others begin
/// as nn::start_latents says. Levels are counted from the tokens, because what a latent has learnt to look
/// for is in the rows that it reads (tokens, their summaries, …) and not in how many of them make a block.
/// Returns what was made up and what was left out, a sentence each; nothing where all was kept.
std::vector<std::string> take_latents(LanguageModel& model, const FindLatents& find);

}  // namespace modewise::models
