#pragma once
// Cost of convolutional networks, by formula (conventions in nn/layers/cost.h).

#include <cstdint>
#include <utility>
#include <vector>

#include "modewise/nn/layers/cost.h"

namespace modewise::models {

/// Convolutions with batch normalisation over a grid that strides downsample.
class ConvolutionCost {
 public:
  /// Kernels have `kernel_modes` axes; all of the grid's if 0.
  ConvolutionCost(nn::CostAccount& account, std::vector<int64_t> size, size_t kernel_modes = 0)
      : account_(account),
        size_(std::move(size)),
        kernel_modes_(kernel_modes == 0 ? size_.size() : kernel_modes) {}

  double places() const { return nn::cell_count(size_); }
  /// Adds a padded convolution: a grid of n cells becomes ⌈n / stride⌉.
  void add(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, const char* name = "convolutions") {
    int64_t taps = 1;
    for (int64_t& n : size_) n = (n + stride - 1) / stride;
    for (size_t mode = 0; mode < kernel_modes_; ++mode) taps *= kernel;
    account_.linear(name, taps * in, out, places(), false);
    account_.norm(out, places());
    account_.keep(2 * places() * static_cast<double>(out));
  }
  void shrink() {
    for (int64_t& n : size_) n = (n + 1) / 2;
  }
  /// Pooling by 2 that drops an odd last cell.
  void pool() {
    for (int64_t& n : size_) n /= 2;
  }
  const std::vector<int64_t>& size() const { return size_; }
  void enlarge() {
    for (int64_t& n : size_) n *= 2;
  }
  /// Adds a residual block: two convolutions of kernel 3, or a bottleneck (1, 3, 1) to four times the width,
  /// and the shortcut's projection. Returns the output channels.
  int64_t residual(int64_t in, int64_t width, int64_t stride, bool bottleneck) {
    const int64_t out = bottleneck ? 4 * width : width;
    if (bottleneck) add(in, width, 1);
    add(bottleneck ? width : in, width, 3, stride);
    add(width, out, bottleneck ? 1 : 3);
    if (stride != 1 || in != out) add(in, out, 1);
    return out;
  }

 private:
  nn::CostAccount& account_;
  std::vector<int64_t> size_;
  size_t kernel_modes_;
};

}  // namespace modewise::models
