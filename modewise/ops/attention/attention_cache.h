#pragma once
// KV cache of one layer for incremental decoding, for each type of tensor attention. Type summary caches the
// window and the summary tokens of complete siblings: at most w + r·Σ (n_l − 1) rows per head instead of one
// per token; n_1, the number of outermost blocks, grows with a sequence that is longer than the fold.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "modewise/ops/attention/tensor_attention.h"

namespace modewise::ops {

class AttentionCache {
 public:
  /// An empty cache. latents and rotary as for tensor_attention; token positions are 0, 1, …
  AttentionCache(TensorAttentionOptions options, at::Tensor latents = {}, RotaryEmbedding rotary = {});
  ~AttentionCache();
  AttentionCache(AttentionCache&&) noexcept;
  AttentionCache& operator=(AttentionCache&&) noexcept;

  /// Appends t ≥ 1 tokens and attends from them to the sequence so far: q [B, t, H, d], k [B, t, G, d], v [B,
  /// t, G, e] -> [B, t, H, e], the last t rows of tensor_attention over the whole sequence. Not
  /// differentiable. A long first call (the prompt) is attended to at once. All steps have B, G, d, e, dtype
  /// and device of the first; a step that is refused changes nothing.
  at::Tensor step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

  /// Number of cached tokens.
  int64_t length() const;
  /// Bytes of all cached tensors.
  int64_t bytes() const;

  class Memory;

 private:
  void check_step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const;

  TensorAttentionOptions options_;
  at::Tensor latents_;
  RotaryEmbedding rotary_;
  int64_t length_ = 0;
  std::unique_ptr<Memory> memory_;  // null before the first step
  at::Tensor first_keys_,
      first_values_;  // [B, 0, G, d] and [B, 0, G, e]: sizes and options of the first step
};

}  // namespace modewise::ops
