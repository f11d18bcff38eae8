#pragma once
// Linear layer over the time axis: one shared by all series, or one per series.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

class SeriesLinear : public torch::nn::Module {
 public:
  /// `series` N; 0: one layer shared by all. Weight [out, in] or [N, out, in], bias [out] or [N, out].
  SeriesLinear(Initializer& init, int64_t series, int64_t in, int64_t out);

  /// [B, N_1 … N_j, in] -> [B, N_1 … N_j, out]
  at::Tensor forward(const at::Tensor& x) const;

  /// Sets every weight to `value`; biases keep their initial values.
  void set_weights(double value);
  /// Sets weights and biases to 0.
  void set_to_zero();

 private:
  at::Tensor weight_, bias_;
};

}  // namespace modewise::nn
