#pragma once
// Causal self-attention of a language model: projections with grouped heads around ops::tensor_attention.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "modewise/nn/layers/constant.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/ops/attention/attention_cache.h"
#include "modewise/ops/attention/tensor_attention.h"

namespace modewise::nn {

struct LanguageAttentionOptions {
  int64_t width = 0, heads = 0, kv_heads = 0, head_width = 0;
  int64_t slots = 1;  // latents a block (form causal)
  double stddev = 0.02, out_stddev = 0.02, latent_stddev = 0.02;
  ops::TensorAttentionOptions attention;
  ops::RotaryEmbedding rotary;
};

class LanguageAttention : public torch::nn::Module {
 public:
  /// Names in its state are Llama's: q_proj [H·d, D], k_proj and v_proj [G·d, D], o_proj [D, H·d]; and
  /// `latents` [m−1, G, slots, d].
  LanguageAttention(Initializer& init, LanguageAttentionOptions options);

  /// [B, n, D] -> [B, n, D]
  at::Tensor forward(const at::Tensor& x) const;
  /// The weights with which forward's values reach each token: [B, H, n, n], as attention_matrix.
  at::Tensor full_matrix(const at::Tensor& x) const;
  /// The same as forward for t tokens that follow those in the cache.
  at::Tensor step(const at::Tensor& x, ops::AttentionCache& cache) const;
  /// Empty, for activations of this type.
  ops::AttentionCache new_cache(at::ScalarType type) const;

 private:
  struct Projected {
    at::Tensor q, k, v;  // [B, n, H or G, d]
  };
  Projected project(const at::Tensor& x) const;

  /// The code of the options, with the frequencies where the weights are.
  ops::RotaryEmbedding rotary() const;

  LanguageAttentionOptions options_;
  std::shared_ptr<Constant> frequencies_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  at::Tensor latents_;
};

/// Latents for a model that has none yet, in place: zero for one slot a block, which is mean pooling; near
/// zero for several, which would stay equal for ever if they began so.
void start_latents(at::Tensor& latents);

}  // namespace modewise::nn
