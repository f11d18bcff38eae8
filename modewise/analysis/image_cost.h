#pragma once
// What classifiers of volumes and segmenters of images cost, by formula from their options and sizes (cost.h
// says what counts).

#include "modewise/analysis/cost.h"
#include "modewise/models/grids/config.h"
#include "modewise/models/grids/grid_classifier.h"
#include "modewise/models/scenes/config.h"
#include "modewise/models/scenes/segmenter.h"

namespace modewise::analysis {

/// A volume through one of grid_models(). Config error as models::validate.
ModelCost grid_classifier_cost(const models::GridModelConfig& config, const models::GridShape& shape);
/// A window through one of segmenters(). Config error as models::validate.
ModelCost segmenter_cost(const models::SegmenterConfig& config, const models::SceneShape& shape);

}  // namespace modewise::analysis
