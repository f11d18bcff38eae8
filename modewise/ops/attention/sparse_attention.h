#pragma once
// Attention with most of its matrix masked: the sparse baselines of Tensorized Attention (appendix C.1). The
// whole matrix is made; nothing here is fast. Of the m tokens that a token might see, each form keeps a share
// `density`: ⌈density·m⌉ of them.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "modewise/ops/attention/weighted_values.h"

namespace modewise::ops {

struct SparseOptions {
  bool random = true;    // which keys a token sees: drawn, or those with the largest logits
  double density = 0.1;  // share of the tokens that it might see
  bool causal = true;
  std::optional<at::Tensor> token_mask = {};  // [B, n] bool: tokens that may be seen
  SoftmaxOptions softmax_options = {};
};

/// q [B, t, H, d] of the tokens first … first+t−1 of n, k [B, n, G, d], v [B, n, G, e], rotated -> [B, t, H,
/// e]. random: a token sees itself and others as they are drawn: the same draw for all heads, and for a pair
/// of positions in texts of any length. Else those with the largest of its logits, and those equal to the
/// last of them.
at::Tensor sparse_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const SparseOptions& options, int64_t first = 0);

/// [B or 1, n, n] bool for q [B, n, ..]: each token sees the `window` valid tokens around it, itself in their
/// middle (the later one of two), or at the ends the first or last ones. window = 0: ⌈density·m⌉ of m valid
/// tokens.
at::Tensor near_mask(const at::Tensor& q, const std::optional<at::Tensor>& token_mask, int64_t window,
                     double density);

}  // namespace modewise::ops
