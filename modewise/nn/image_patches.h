#pragma once
// Square patches of an image as tokens: a convolution whose stride is its kernel, written as one matrix
// product, and the way back from a token to its pixels.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "modewise/nn/batch_norm.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/patch_embedding.h"

namespace modewise::nn {

/// x [B, T, N, N, C] -> [B, T, n, n, p·p·C] with n = N / p: rows of a patch first, then columns, then
/// channels.
at::Tensor cut_patches(const at::Tensor& x, int64_t size);
/// x [B, n, n, p·p·C] -> [B, N, N, C], the reverse.
at::Tensor join_patches(const at::Tensor& x, int64_t size);

class ImagePatches : public torch::nn::Module {
 public:
  /// `activation`: linear, relu, or relu_norm (as released: ReLU and BatchNorm). Names in the state are those
  /// of the released code: conv.0 [D, C, p, p], conv.2.
  ImagePatches(Initializer& init, int64_t channels, int64_t size, int64_t width, PatchActivation activation);

  /// image [B, T, N, N, C], valid [B, T, N, N] bool or undefined -> tokens [B, T, n, n, D] of dtype `dtype`;
  /// the mask says which patches have any valid pixel; in training the BatchNorm's statistics are those of
  /// these patches.
  PatchTokens forward(const at::Tensor& image, const at::Tensor& valid, at::ScalarType dtype) const;

 private:
  int64_t size_;
  PatchActivation activation_;
  at::Tensor weight_, bias_;
  std::shared_ptr<BatchNorm> norm_;
};

}  // namespace modewise::nn
