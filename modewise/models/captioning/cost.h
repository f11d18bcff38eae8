#pragma once
// Cost of captioners, by formula from their options and sizes (conventions in nn/layers/cost.h).

#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/nn/layers/cost.h"

namespace modewise::models {

/// Cost of one image and one caption of max_words words. Config errors as validate.
nn::ModelCost caption_cost(const CaptionModelConfig& config, const CaptionShape& shape);

// Costs of the rows of captioners().
nn::ModelCost transformer_captioner_cost(const CaptionModelConfig& config, const CaptionShape& shape);
nn::ModelCost lstm_captioner_cost(const CaptionModelConfig& config, const CaptionShape& shape);

}  // namespace modewise::models
