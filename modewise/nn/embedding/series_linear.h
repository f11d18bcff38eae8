#pragma once
// A linear map of the time axis: one for all series, or one for each.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

class SeriesLinear : public torch::nn::Module {
 public:
  /// `series` N: 0 for one map shared by all. Weight [out, in] or [N, out, in], bias [out] or [N, out].
  SeriesLinear(Initializer& init, int64_t series, int64_t in, int64_t out);

  /// [B, N_1 … N_j, in] -> [B, N_1 … N_j, out]
  at::Tensor forward(const at::Tensor& x) const;

  /// Every weight `value`; biases as drawn.
  void set_weights(double value);
  /// Weights and biases 0.
  void set_to_zero();

 private:
  at::Tensor weight_, bias_;
};

}  // namespace modewise::nn
