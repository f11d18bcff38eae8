#pragma once
// What classifiers of volumes and segmenters of images cost, by formula from their options and sizes (cost.h
// says what counts).

#include "modewise/analysis/cost.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/segmenter.h"

namespace modewise::analysis {

/// A volume through one of grid_models(). Config error as models::validate.
ModelCost grid_classifier_cost(const models::VisionModelConfig& config, const models::VisionShape& shape);
/// A window through one of segmenters(). Config error as models::validate.
ModelCost segmenter_cost(const models::SegmenterConfig& config, const models::SegmentationShape& shape);

}  // namespace modewise::analysis
