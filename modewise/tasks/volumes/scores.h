#pragma once
// A classifier's probabilities over samples of a set, batch by batch, without gradients.

#include <cstdint>
#include <span>

#include "modewise/data/volumes/augment.h"
#include "modewise/models/volumes/volume_classifier.h"
#include "modewise/tasks/labelled/class_metrics.h"
#include "modewise/tasks/volumes/config.h"

namespace modewise::tasks {

/// Softmax of the logits, averaged over the mirror images the config asks for; labels as the set has them.
/// Volumes are padded to the model's size. Throws train::EvaluationInterrupted when a stop signal came.
ScoreTable score_volumes(models::VolumeClassifier& model, const ClassifyConfig& config,
                         const data::VolumeSet& set, std::span<const int64_t> samples);

/// The batch as the model takes it.
models::VolumeInput model_input(const data::VolumeBatch& batch);

}  // namespace modewise::tasks
