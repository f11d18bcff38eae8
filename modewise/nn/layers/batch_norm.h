#pragma once
// Batch normalisation over all but the last dimension (Ioffe and Szegedy 2015), with sums that do not depend
// on the number of threads. PatchTST's encoder uses it, the patches of volumes and images, and residual
// networks.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <optional>

namespace modewise::nn {

class BatchNorm : public torch::nn::Module {
 public:
  explicit BatchNorm(int64_t width, double eps = 1e-5, double momentum = 0.1);

  /// x [..., D]. In training the batch's statistics, and the running ones move by `momentum` towards them
  /// (the variance unbiased); in evaluation the running ones.
  /// With `mask` [...] bool only valid rows count in training; every row is normalised.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask = {});

 private:
  void update(const at::Tensor& mean, const at::Tensor& var, const at::Tensor& count);

  at::Tensor weight_, bias_;
  at::Tensor running_mean_, running_var_;  // buffers
  double eps_, momentum_;
};

}  // namespace modewise::nn
