#pragma once
// Convolution modules and pooling for convolutional networks, channels last.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <vector>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

/// Axes of the kernels of a convolution over volumes.
enum class KernelAxes {
  all,     // K×K×K; over other numbers of modes, all of these: weight [C', C, K, …, K]
  slices,  // 1×K×K (2.5D): a 2D convolution of each slice of mode 0: weight [C', C, 1, K, K]
  planes,  // axial-coronal-sagittal (ACS, Yang et al. 2021): a 2D weight [C', C, K, K] whose output channels,
           // in three parts with the larger ones first, are kernels 1×K×K, K×1×K and K×K×1
};

class Convolution : public torch::nn::Module {
 public:
  /// `modes` is k; one kernel size, stride and padding for all modes. Weights are normal with standard
  /// deviation √(gain / fan), fan = C' times the taps of a kernel (fan-out, He et al. 2015, as in
  /// torchvision's ResNets); the bias is initially 0. Other `axes` than `all` need 3 modes and an odd kernel
  /// with padding K / 2; along an axis where the kernel has one tap there is no padding.
  Convolution(Initializer& init, int64_t modes, int64_t in, int64_t out, int64_t kernel, int64_t stride = 1,
              int64_t padding = 0, bool bias = false, double gain = 2, KernelAxes axes = KernelAxes::all);

  at::Tensor forward(const at::Tensor& x) const;

 private:
  at::Tensor planes(const at::Tensor& x) const;

  std::vector<int64_t> stride_, padding_;
  KernelAxes axes_;
  at::Tensor weight_, bias_;
};

/// Max pooling of x [B, N_1 … N_k, C], k = 2 or 3, with windows of `kernel` cells along every mode; padding
/// cells do not count.
at::Tensor max_pool(const at::Tensor& x, int64_t kernel, int64_t stride, int64_t padding);

/// Nearest-neighbour upsampling: repeats each cell of x [B, N_1 … N_k, C] `factor` times along every mode.
at::Tensor repeat_places(const at::Tensor& x, int64_t factor);

}  // namespace modewise::nn
