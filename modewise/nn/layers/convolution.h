#pragma once
// Convolution modules and pooling for convolutional networks, channels last.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <vector>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

class Convolution : public torch::nn::Module {
 public:
  /// `modes` is k; one kernel size, stride and padding for all modes. Weights are normal with standard
  /// deviation √(gain / fan), fan = C'·K^k (fan-out, He et al. 2015, as in torchvision's ResNets); the bias
  /// is initially 0.
  Convolution(Initializer& init, int64_t modes, int64_t in, int64_t out, int64_t kernel, int64_t stride = 1,
              int64_t padding = 0, bool bias = false, double gain = 2);

  at::Tensor forward(const at::Tensor& x) const;

 private:
  std::vector<int64_t> stride_, padding_;
  at::Tensor weight_, bias_;
};

/// Max pooling of x [B, N_1 … N_k, C], k = 2 or 3, with windows of `kernel` cells along every mode; padding
/// cells do not count.
at::Tensor max_pool(const at::Tensor& x, int64_t kernel, int64_t stride, int64_t padding);

/// Nearest-neighbour upsampling: repeats each cell of x [B, N_1 … N_k, C] `factor` times along every mode.
at::Tensor repeat_places(const at::Tensor& x, int64_t factor);

}  // namespace modewise::nn
