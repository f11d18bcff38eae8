#pragma once
// Divided attention: ordinary attention along one mode after another, each a residual step on what the former
// left. Its idea is TimeSformer's (Bertasius et al., ICML 2021), which is another module: there the steps are
// time and then all of space, each with a LayerNorm before it, an output projection behind it and a residual
// path around both.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "modewise/nn/attention/attention.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::nn {

/// With h_0 = x: h_i = h_{i−1} + attention along mode i of h_{i−1}; the result is h_k − x, for a block that
/// adds it to its own residual. query_proj, key_proj and value_proj are [k·D, D], mode-major. There is no
/// output projection: the next step's projections mix the heads, as many weights as the table of HOT's paper
/// counts.
class DividedAttention : public Attention {
 public:
  /// `options` of softmax attention; each step reaches along its mode.
  DividedAttention(Initializer& init, int64_t width, int64_t heads, int64_t modes,
                   TokenAttentionOptions options);

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;

 private:
  at::Tensor step(const at::Tensor& x, int64_t mode, const std::optional<at::Tensor>& mask) const;

  int64_t heads_, modes_;
  TokenAttentionOptions options_;
  std::shared_ptr<Linear> query_, key_, value_;
  std::shared_ptr<LayerNorm> query_norm_, key_norm_;
  std::shared_ptr<ModuleList<Dropout>> dropouts_;  // one a step: each has its own random numbers
};

}  // namespace modewise::nn
