#pragma once
// Layer normalisation over the last dimension, with learned weight and bias.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

namespace modewise::nn {

class LayerNorm : public torch::nn::Module {
 public:
  explicit LayerNorm(int64_t width, double eps = 1e-5);

  /// [..., D] -> [..., D]
  at::Tensor forward(const at::Tensor& x) const;

  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }
  double eps() const { return eps_; }

 private:
  at::Tensor weight_, bias_;
  double eps_;
};

}  // namespace modewise::nn
