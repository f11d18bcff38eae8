#pragma once
// Cost of image and volume classifiers, by formula from their options and sizes (conventions in
// nn/layers/cost.h).

#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/nn/layers/cost.h"

namespace modewise::models {

/// Cost of one image or volume through one of vision_models(). Config errors as validate.
nn::ModelCost vision_classifier_cost(const VisionModelConfig& config, const VisionShape& shape);

// Costs of the rows of vision_models().
nn::ModelCost token_classifier_cost(const VisionModelConfig& config, const VisionShape& shape);
nn::ModelCost vision_transformer_cost(const VisionModelConfig& config, const VisionShape& shape);
nn::ModelCost resnet18_cost(const VisionModelConfig& config, const VisionShape& shape);
nn::ModelCost resnet50_cost(const VisionModelConfig& config, const VisionShape& shape);
nn::ModelCost convolution_network_cost(const VisionModelConfig& config, const VisionShape& shape);

}  // namespace modewise::models
