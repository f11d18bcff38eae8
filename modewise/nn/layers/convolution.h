#pragma once
// Convolutions as modules, and what stands beside them in convolutional networks; channels are last.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <vector>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

class Convolution : public torch::nn::Module {
 public:
  /// `modes` is k; one kernel size, stride and padding for all of them. Weights normal with deviation √(gain
  /// / fan), where fan is C'·K^k (fan out, He et al. 2015, as torchvision's ResNets start); the bias starts
  /// at 0.
  Convolution(Initializer& init, int64_t modes, int64_t in, int64_t out, int64_t kernel, int64_t stride = 1,
              int64_t padding = 0, bool bias = false, double gain = 2);

  at::Tensor forward(const at::Tensor& x) const;

 private:
  std::vector<int64_t> stride_, padding_;
  at::Tensor weight_, bias_;
};

/// Maximum over windows of `kernel` places of the modes of x [B, N_1 … N_k, C], k = 2 or 3; what lies beyond
/// the edge does not count.
at::Tensor max_pool(const at::Tensor& x, int64_t kernel, int64_t stride, int64_t padding);

/// Each place of the modes of x [B, N_1 … N_k, C] `factor` times along every mode.
at::Tensor repeat_places(const at::Tensor& x, int64_t factor);

}  // namespace modewise::nn
