#pragma once
// RMSNorm: root-mean-square normalisation over the last dimension, with a learned weight.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

namespace modewise::nn {

class RMSNorm : public torch::nn::Module {
 public:
  explicit RMSNorm(int64_t width, double eps = 1e-5);

  /// [..., D] -> [..., D]
  at::Tensor forward(const at::Tensor& x) const;

 private:
  at::Tensor weight_;
  double eps_;
};

}  // namespace modewise::nn
