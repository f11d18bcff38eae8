#pragma once
// Cost of segmenters, by formula from their options and sizes (conventions in nn/layers/cost.h).

#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/nn/layers/cost.h"

namespace modewise::models {

/// Cost of one window through one of segmenters(). Config errors as validate.
nn::ModelCost segmenter_cost(const SegmenterConfig& config, const SegmentationShape& shape);

// Costs of the rows of segmenters().
nn::ModelCost token_segmenter_cost(const SegmenterConfig& config, const SegmentationShape& shape);
nn::ModelCost unet_cost(const SegmenterConfig& config, const SegmentationShape& shape);

}  // namespace modewise::models
