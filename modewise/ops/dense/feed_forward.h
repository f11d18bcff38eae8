#pragma once
// Fused feed-forward network (MLP) of a transformer layer: the hidden activations of a block of rows stay in
// cache.

#include <ATen/core/Tensor.h>

#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

struct FeedForwardWeights {
  at::Tensor first;        // [M, K]
  at::Tensor second;       // [N, M]
  at::Tensor gate;         // [M, K] or undefined
  at::Tensor first_bias;   // [M] or undefined
  at::Tensor second_bias;  // [N] or undefined
};

/// x [..., K] -> [..., N] in the dtype of x: second h + second_bias with h = dropout(a, p) [..., M] and
///   a = silu(gate x) · (first x + first_bias)   with a gate (SwiGLU; Shazeer 2020),
///   a = gelu(first x + first_bias)              without one (exact, by erf).
/// Every step is rounded to the dtype of x, so that the result is bitwise equal to `linear`, `swiglu`,
/// `dropout_add` and `linear` one after another. The weights, of one dtype, may be float32 while x is
/// bfloat16, as in `linear`. Dropout uses the random numbers of `dropout_add` on h.
at::Tensor feed_forward(const at::Tensor& x, const FeedForwardWeights& weights, double p = 0,
                        DropoutKey key = {});

}  // namespace modewise::ops
