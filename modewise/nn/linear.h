#pragma once
// The affine map of the last dimension. Weights stay float32 (or float64); they are cast to the activation's
// dtype where they are used.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

class Linear : public torch::nn::Module {
 public:
  /// Weight [out, in] and bias [out] uniform in ±1/√in (torch's default: Kaiming, a = √5).
  Linear(Initializer& init, int64_t in, int64_t out, bool bias = true);

  /// [..., in] -> [..., out]
  at::Tensor forward(const at::Tensor& x) const;

  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }
  /// Weight and bias 0, for branches that start silent.
  void set_to_zero();

 private:
  at::Tensor weight_, bias_;
};

/// `parameter` in the dtype of `like`; undefined stays undefined.
at::Tensor cast_like(const at::Tensor& parameter, const at::Tensor& like);

}  // namespace modewise::nn
