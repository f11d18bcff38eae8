#pragma once
// Cost of language models, by formula from their options (conventions in nn/layers/cost.h).

#include "modewise/models/language_modeling/config.h"
#include "modewise/nn/layers/cost.h"

namespace modewise::models {

/// Cost of config.context tokens through a language model, with logits for each token.
nn::ModelCost language_cost(const LanguageModelConfig& config);

}  // namespace modewise::models
