#pragma once
// Cost of a volume model of any size, by formula (conventions in nn/layers/cost.h).

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/models/encoder_cost.h"

namespace modewise::analysis {

/// The released code's volume classifier (grids of any order): linear patch embedding with batch
/// normalisation, blocks, mean over tokens, LayerNorm, linear head.
struct VisionModel {
  std::vector<int64_t> size = {28, 28, 28};
  int64_t patch = 4, channels = 1, classes = 2;
  std::string mechanism = "hot";
  models::EncoderConfig encoder;

  models::TokenShape tokens() const;
};
nn::ModelCost grid_cost(const VisionModel& model, models::Projection projection = models::Projection::pooled);

}  // namespace modewise::analysis
