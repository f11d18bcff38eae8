#pragma once
// What classifiers of volumes and segmenters of images cost, by formula from their options and sizes (cost.h
// says what counts).

#include "modewise/analysis/cost.h"
#include "modewise/models/scenes/config.h"
#include "modewise/models/scenes/segmenter.h"
#include "modewise/models/volumes/config.h"
#include "modewise/models/volumes/volume_classifier.h"

namespace modewise::analysis {

/// A volume through one of volume_models(). Config error as models::validate.
ModelCost volume_cost(const models::VolumeModelConfig& config, const models::VolumeShape& shape);
/// A window through one of segmenters(). Config error as models::validate.
ModelCost segmenter_cost(const models::SegmenterConfig& config, const models::SceneShape& shape);

}  // namespace modewise::analysis
