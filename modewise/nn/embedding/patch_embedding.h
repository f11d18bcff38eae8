#pragma once
// Patch embedding of time series: a convolution along time, computed as unfold and one matrix product.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/layer_norm.h"

namespace modewise::nn {

/// Activation after the projection: none, ReLU (paper), or ReLU and LayerNorm (as released).
enum class PatchActivation { none, relu, relu_norm };
/// Parses a config value: "linear", "relu" or "relu_norm"; a ValueError for another.
PatchActivation patch_activation(std::string_view name);

struct PatchTokens {
  at::Tensor tokens;               // [B, N_1 … N_j, P, D]
  std::optional<at::Tensor> mask;  // [B, N_1 … N_j, P] bool: any cell of the patch observed
};

/// End padding in steps (repeats of the last step): the fewest that let patches cover the whole window.
int64_t patch_padding(int64_t lookback, int64_t length, int64_t stride);
/// The number of patches P of a window of `lookback` steps.
int64_t patch_count(int64_t lookback, int64_t length, int64_t stride);

class PatchEmbedding : public torch::nn::Module {
 public:
  /// `flags`: windows come with missing-value masks, which enter as a second input channel, so that 0 and
  /// missing differ.
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
