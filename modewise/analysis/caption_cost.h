#pragma once
// Cost of captioners, by formula from their options and sizes (conventions in cost.h).

#include "modewise/analysis/cost.h"
#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"

namespace modewise::analysis {

/// Cost of one image and one caption of max_words words. Config errors as models::validate.
ModelCost caption_cost(const models::CaptionModelConfig& config, const models::CaptionShape& shape);

}  // namespace modewise::analysis
