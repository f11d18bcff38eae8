#pragma once
// What a trained forecaster attends to: the factors S_i of each layer and head, averaged over windows.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/models/forecast/forecaster.h"

namespace modewise::analysis {

/// The factor of one layer and token mode.
struct AttentionMap {
  int64_t layer = 0;  // from 0
  int64_t mode = 0;   // token mode; the last is time
  at::Tensor mean;    // [H, N_i, N_i] float32, the mean of S_i over the batch; rows sum to 1
  /// For each head, to how many places a row of S_i goes: the mean over samples and rows of exp(entropy),
  /// from 1 (one place) to N_i (all alike).
  std::vector<double> places;
};

/// Maps of all layers and attended modes for the windows of `input`, in evaluation mode and without
/// gradients; empty for models without factors. The model is left in the mode in which it was.
std::vector<AttentionMap> attention_maps(models::Forecaster& model, const models::ForecastInput& input);

}  // namespace modewise::analysis
