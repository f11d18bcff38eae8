#pragma once
// Batch normalisation over all but the last dimension (Ioffe and Szegedy 2015), with sums independent of the
// number of threads. Used by PatchTST's encoder, the patch embedding of images and volumes, and residual
// networks.

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <optional>

namespace modewise::nn {

/// A training batch has one value per channel.
class BatchTooSmall : public c10::ValueError {
  using ValueError::ValueError;
};

class BatchNorm : public torch::nn::Module {
 public:
  explicit BatchNorm(int64_t width, double eps = 1e-5, double momentum = 0.1);

  /// x [..., D]. Training: normalizes by batch statistics and updates the running ones by `momentum`
  /// (unbiased variance); evaluation: normalizes by running statistics. With `mask` [...] bool, batch
  /// statistics use valid rows only; every row is normalized. BatchTooSmall in training for a single row
  /// without a mask, as in torch; a mask that leaves one valid row changes no running statistics.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask = {});

 private:
  void update(const at::Tensor& mean, const at::Tensor& var, const at::Tensor& count);

  at::Tensor weight_, bias_;
  at::Tensor running_mean_, running_var_;  // buffers
  double eps_, momentum_;
};

}  // namespace modewise::nn
