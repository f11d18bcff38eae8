#pragma once
// Cost of image and volume classifiers and of segmenters, by formula from their options and sizes
// (conventions in cost.h).

#include "modewise/analysis/cost.h"
#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"

namespace modewise::analysis {

/// Cost of one image or volume through one of grid_models(). Config errors as models::validate.
ModelCost vision_classifier_cost(const models::VisionModelConfig& config, const models::VisionShape& shape);
/// Cost of one window through one of segmenters(). Config errors as models::validate.
ModelCost segmenter_cost(const models::SegmenterConfig& config, const models::SegmentationShape& shape);

}  // namespace modewise::analysis
