#pragma once
// Masked softmax attention with optional dropout of the weights: the last step of the attention types over a
// sequence.

#include <ATen/core/Tensor.h>

#include <optional>

#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

/// Scale of the logits and dropout of the weights.
struct SoftmaxOptions {
  double scale = 1;    // of the logits
  double dropout = 0;  // of the weights; 0 in evaluation
  DropoutKey key = {};
};

/// Random stream of the queries from `first` on, for attention in strips of queries.
DropoutKey key_of_rows(DropoutKey key, int64_t first);

/// dropout(softmax(scale · q kᵀ)) v: q [B, n, H, d], k [B, m, G, d], v [B, m, G, e] -> [B, n, H, e]. `kept`
/// [1 or B, 1 or H, 1 or n, m] is bool, true = may attend; `causal` (n = m): a causal mask as well; a row
/// without any key is 0. With dropout, scores exist for one strip of queries at a time, at most 2²⁴ (one row
/// at least), and each strip has its own random stream.
at::Tensor weighted_values(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const std::optional<at::Tensor>& kept, bool causal,
                           const SoftmaxOptions& softmax_options);

}  // namespace modewise::ops
