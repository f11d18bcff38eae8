#pragma once
// Values weighed by the softmax of logits under any mask, with or without dropout of the weights: what the
// forms of attention over a sequence end in.

#include <ATen/core/Tensor.h>

#include <optional>

#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

/// What acts on logits and weights.
struct SoftmaxOptions {
  double scale = 1;    // of the logits
  double dropout = 0;  // of the weights; 0 in evaluation
  DropoutKey key = {};
};

/// dropout(softmax(scale · q kᵀ)) v: q [B, n, H, d], k [B, m, G, d], v [B, m, G, e] -> [B, n, H, e]. `kept`
/// is bool, true = seen, and broadcasts to [B, H, n, m]; a row of which nothing is kept is 0. `causal` as in
/// dot_product_attention, without `kept` only. With dropout the whole matrix is held.
at::Tensor weighted_values(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const std::optional<at::Tensor>& kept, bool causal, const SoftmaxOptions& softmax_options);

}  // namespace modewise::ops
