#include "modewise/nn/image_patches.h"

#include <ATen/ops/relu.h>

#include <cmath>

#include "modewise/nn/module_list.h"
#include "modewise/ops/linear.h"

namespace modewise::nn {
at::Tensor cut_patches(const at::Tensor& x, int64_t size) {
  const int64_t rows = x.size(2) / size, columns = x.size(3) / size;
  return x.view({x.size(0), x.size(1), rows, size, columns, size, x.size(4)})
      .permute({0, 1, 2, 4, 3, 5, 6})
      .reshape({x.size(0), x.size(1), rows, columns, size * size * x.size(4)});
}

at::Tensor join_patches(const at::Tensor& x, int64_t size) {
  const int64_t rows = x.size(1), columns = x.size(2);
  return x.view({x.size(0), rows, columns, size, size, x.size(3) / (size * size)})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({x.size(0), rows * size, columns * size, x.size(3) / (size * size)});
}

ImagePatches::ImagePatches(Initializer& init, int64_t channels, int64_t size, int64_t width,
                           PatchActivation activation)
    : size_(size), activation_(activation) {
  const auto parts = register_module("conv", std::make_shared<Sequence>());
  const auto convolution = parts->register_module("0", std::make_shared<Sequence>());
  const double bound = 1.0 / std::sqrt(static_cast<double>(channels * size * size));
  weight_ = convolution->register_parameter("weight", init.uniform({width, channels, size, size}, bound));
  bias_ = convolution->register_parameter("bias", init.uniform({width}, bound));
  if (activation == PatchActivation::relu_norm)
    norm_ = parts->register_module("2", std::make_shared<BatchNorm>(width));
}

PatchTokens ImagePatches::forward(const at::Tensor& image, const at::Tensor& valid,
                                  at::ScalarType dtype) const {
  PatchTokens out;
  out.tokens =
      ops::linear(cut_patches(image.to(dtype), size_), weight_.permute({0, 2, 3, 1}).flatten(1), bias_);
  if (activation_ != PatchActivation::none) out.tokens = at::relu(out.tokens);
  if (valid.defined()) out.mask = cut_patches(valid.unsqueeze(-1), size_).any(-1);
  if (norm_) out.tokens = norm_->forward(out.tokens, out.mask);
  return out;
}

}  // namespace modewise::nn
