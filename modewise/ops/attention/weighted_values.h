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

/// dropout(softmax(scale · q kᵀ)) v: q [B, n, H, d], k [B, m, G, d], v [B, m, G, e] -> [B, n, H, e]. `kept`
/// is bool, true = may attend, and broadcasts to [B, H, n, m]; a row without any key is 0. `causal` as in
/// dot_product_attention, only without `kept`. With dropout the whole matrix is materialised.
at::Tensor weighted_values(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const std::optional<at::Tensor>& kept, bool causal,
                           const SoftmaxOptions& softmax_options);

}  // namespace modewise::ops
