#pragma once
// What captioners cost, by formula from their options and sizes (cost.h says what counts).

#include "modewise/analysis/cost.h"
#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"

namespace modewise::analysis {

/// A picture and one caption of max_words words. Config error as models::validate.
ModelCost caption_cost(const models::CaptionModelConfig& config, const models::CaptionShape& shape);

}  // namespace modewise::analysis
