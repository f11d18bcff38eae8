#pragma once
// Time patches as tokens: a convolution along time written as unfold and one matrix product.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/layer_norm.h"

namespace modewise::nn {

/// What follows the projection: nothing, ReLU (paper), or ReLU and LayerNorm (as released).
enum class PatchActivation { none, relu, relu_norm };
/// "linear", "relu" or "relu_norm", as configs name them.
PatchActivation patch_activation(std::string_view name);

struct PatchTokens {
  at::Tensor tokens;               // [B, N_1 … N_j, P, D]
  std::optional<at::Tensor> mask;  // [B, N_1 … N_j, P] bool: whether any cell of the patch was observed
};

/// Copies of the last column appended so that patches cover the whole window: the fewest that do.
int64_t patch_padding(int64_t lookback, int64_t length, int64_t stride);
/// P for a window of `lookback` steps.
int64_t patch_count(int64_t lookback, int64_t length, int64_t stride);

class PatchEmbedding : public torch::nn::Module {
 public:
  /// `flags`: windows come with masks; the observed flags enter as a second channel of the convolution, so
  /// that a cell that is 0 and one that is missing differ.
  PatchEmbedding(Initializer& init, int64_t length, int64_t stride, int64_t width, PatchActivation activation,
                 bool flags);

  /// x [B, N_1 … N_j, L], 0 where not observed; observed the same shape, bool, or undefined. The tokens have
  /// dtype `dtype`.
  PatchTokens forward(const at::Tensor& x, const at::Tensor& observed, at::ScalarType dtype) const;

 private:
  int64_t length_, stride_;
  PatchActivation activation_;
  bool flags_;
  at::Tensor weight_, bias_;  // [D, 1 or 2, length], [D]
  std::shared_ptr<LayerNorm> norm_;
};

}  // namespace modewise::nn
