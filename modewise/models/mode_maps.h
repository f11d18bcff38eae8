#pragma once
// The attention factors of a model made of mode-wise factors.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::models {

/// The attention factors of one layer.
struct ModeMaps {
  std::vector<int64_t> modes;       // token mode of each factor; of forecasters the last mode is time
  std::vector<at::Tensor> factors;  // S_i [B, heads, N_i, N_i], rows sum to 1
};

}  // namespace modewise::models
