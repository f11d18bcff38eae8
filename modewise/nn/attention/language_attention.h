#pragma once
// Causal self-attention of a language model: grouped-query projections around ops::tensor_attention.

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
  int64_t summary_tokens = 1;  // summary tokens per block (type `summary`)
  double stddev = 0.02, out_stddev = 0.02, latent_stddev = 0.02;
  ops::TensorAttentionOptions attention;
  ops::RotaryEmbedding rotary;
};

class LanguageAttention : public torch::nn::Module {
 public:
  /// State names as in Llama: q_proj [H·d, D], k_proj and v_proj [G·d, D], o_proj [D, H·d]; and `latents`
  /// [m−1, G, summary_tokens, d].
  LanguageAttention(Initializer& init, LanguageAttentionOptions options);

  /// [B, n, D] -> [B, n, D]
  at::Tensor forward(const at::Tensor& x) const;
  /// The attention matrix of `forward`, [B, H, n, n], as attention_matrix.
  at::Tensor full_matrix(const at::Tensor& x) const;
  /// Incremental decoding: `forward` for t tokens that follow the cached ones.
  at::Tensor step(const at::Tensor& x, ops::AttentionCache& cache) const;
  /// An empty key-value cache for activations of this dtype.
  ops::AttentionCache new_cache(at::ScalarType type) const;

 private:
  struct Projected {
    at::Tensor q, k, v;  // [B, n, H or G, d]
  };
  Projected project(const at::Tensor& x) const;

  /// The rotary embedding of the options, with the frequencies on the device of the weights.
  ops::RotaryEmbedding rotary() const;

  LanguageAttentionOptions options_;
  std::shared_ptr<Constant> frequencies_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  at::Tensor latents_;
};

/// Initializes latents in place: zero for one summary token per block, which is mean pooling; small random
/// values for several, since equal latents would stay equal.
void start_latents(at::Tensor& latents);

}  // namespace modewise::nn
