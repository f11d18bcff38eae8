#pragma once
// Sparse attention baselines of Tensorized Attention (appendix C.1), random and top-k, by masking the full
// matrix (not optimised). Each row keeps a fraction `density` of the m tokens it may attend to: ⌈density·m⌉
// tokens.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "modewise/ops/attention/weighted_values.h"

namespace modewise::ops {

struct SparseOptions {
  bool random = true;    // selected keys: a random sample, or those with the largest logits
  double density = 0.1;  // fraction of the tokens that are kept
  bool causal = true;
  std::optional<at::Tensor> token_mask = {};  // [B, n] bool: key padding mask
  SoftmaxOptions softmax_options = {};
};

/// q [B, t, H, d] of tokens first … first+t−1 of n, k [B, n, G, d], v [B, n, G, e], rotated -> [B, t, H, e].
/// random: a token attends to itself and to randomly sampled others, the same sample for all heads and, for a
/// pair of positions, for sequences of any length. Otherwise top-k: the keys with the largest logits, ties
/// included.
at::Tensor sparse_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const SparseOptions& options, int64_t first = 0);

/// [B or 1, n, n] bool for q [B, n, ..]: sliding window of the `window` valid tokens around each token,
/// centred on it (the later of two centres), or the first or last ones at the ends. window = 0: ⌈density·m⌉
/// of m valid tokens.
at::Tensor near_mask(const at::Tensor& q, const std::optional<at::Tensor>& token_mask, int64_t window,
                     double density);

}  // namespace modewise::ops
