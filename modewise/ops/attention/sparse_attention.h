#pragma once
// Sparse attention baselines of Tensorized Attention (appendix C.1): random and top-k, by masking all scores,
// in strips of queries (not optimised), and windows, in blocks of queries. Each row of the former keeps a
// fraction `density` of the m tokens it may attend to: ⌈density·m⌉ tokens.

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

/// Sliding window of the `window` valid tokens around each token, centred on it (the later of two centres),
/// or the first or last ones at the ends; window = 0: ⌈density·m⌉ of m valid tokens. q [B, n, H, d], k [B, n,
/// G, d], v [B, n, G, e], rotated -> [B, n, H, e]; masked tokens are 0. In blocks of tokens, so that
/// memory is linear in n.
at::Tensor near_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const std::optional<at::Tensor>& token_mask, int64_t window, double density,
                          const SoftmaxOptions& softmax_options);

/// The same windows as a mask, [B or 1, n, n] bool.
at::Tensor near_mask(const at::Tensor& q, const std::optional<at::Tensor>& token_mask, int64_t window,
                     double density);

/// Tokens of the window for n valid tokens.
int64_t near_width(int64_t n, int64_t window, double density);

constexpr int64_t kNearRows = 256;  // queries of a block, at least

/// Queries [first, first + rows) of n tokens with windows of `width`, and the keys that they see.
struct NearBlock {
  int64_t first, rows, first_key, keys;
};
/// The block whose first query is `first`.
NearBlock near_block(int64_t first, int64_t n, int64_t width);

}  // namespace modewise::ops
