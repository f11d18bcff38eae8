#pragma once
// What one layer keeps while a text is generated, for each form of tensor attention. Form causal keeps the
// window and the slots of finished siblings: at most w + r·Σ (n_l − 1) rows a head instead of one a token,
// where n_1 is the number of coarsest blocks, which grows with a text that is longer than the fold.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "modewise/ops/attention/tensor_attention.h"

namespace modewise::ops {

class AttentionCache {
 public:
  /// For an empty text. latents and rotary as for tensor_attention; positions of tokens are 0, 1, …
  AttentionCache(TensorAttentionOptions options, at::Tensor latents = {}, RotaryEmbedding rotary = {});
  ~AttentionCache();
  AttentionCache(AttentionCache&&) noexcept;
  AttentionCache& operator=(AttentionCache&&) noexcept;

  /// Appends t ≥ 1 tokens and lets them attend to the text so far: q [B, t, H, d], k [B, t, G, d], v [B, t,
  /// G, e] -> [B, t, H, e], the last t rows of tensor_attention over the whole text. No gradients. A long
  /// first piece is attended to at once.
  at::Tensor step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

  /// Tokens so far.
  int64_t length() const;
  /// Of all that is kept.
  int64_t bytes() const;

  class Memory;

 private:
  TensorAttentionOptions options_;
  at::Tensor latents_;
  RotaryEmbedding rotary_;
  int64_t length_ = 0;
  std::unique_ptr<Memory> memory_;
};

}  // namespace modewise::ops
