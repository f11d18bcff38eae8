#pragma once
// Divided attention: softmax attention along one mode after another, each a residual step on the previous
// result. The idea is TimeSformer's (Bertasius et al., ICML 2021), whose module differs: its steps are time,
// then all of space, each with a LayerNorm before it, an output projection after it and a residual connection
// around both.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "modewise/nn/attention/attention.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::nn {

/// With h_0 = x: h_i = h_{i−1} + attention along mode i of h_{i−1}; returns h_k − x, which the block adds to
/// its residual stream. query_proj, key_proj and value_proj are [k·D, D], mode-major. Without an output
/// projection (the next step's projections mix the heads), the parameter count is that of the table in HOT's
/// paper.
class DividedAttention : public Attention {
 public:
  /// `options` for softmax attention; each step attends along its mode.
  DividedAttention(Initializer& init, int64_t width, int64_t heads, int64_t modes,
                   TokenAttentionOptions options);

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;

 private:
  at::Tensor step(const at::Tensor& x, int64_t mode, const std::optional<at::Tensor>& mask) const;

  int64_t heads_, modes_;
  TokenAttentionOptions options_;
  std::shared_ptr<Linear> query_, key_, value_;
  std::shared_ptr<LayerNorm> query_norm_, key_norm_;
  std::shared_ptr<ModuleList<Dropout>> dropouts_;  // one per step, each with its own random numbers
};

}  // namespace modewise::nn
