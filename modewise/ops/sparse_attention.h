#pragma once
// Attention with most of its matrix masked: the sparse baselines of Tensorized Attention (appendix C.1). The
// whole matrix is made; nothing here is fast.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace modewise::ops {

struct SparseOptions {
  bool random = true;    // which keys a token sees: drawn, or those with the largest logits
  double density = 0.1;  // share of the tokens that it might see
  bool causal = true;
  double scale = 1;
};

/// q [B, t, H, d] of the tokens first … first+t−1 of n, k [B, n, G, d], v [B, n, G, e], rotated -> [B, t, H,
/// e]. random: a token sees itself, and each other with probability `density`: the same draw for all heads,
/// and for a pair of positions in texts of any length. Else the ⌈density·m⌉ largest of its m logits, and
/// those equal to the last of them.
at::Tensor sparse_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const SparseOptions& options, int64_t first = 0);

}  // namespace modewise::ops
