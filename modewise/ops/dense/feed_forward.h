#pragma once
// The position-wise network of a transformer block as one operator: the hidden activations of a block of rows
// never leave the cache.

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

/// x [..., K] -> [..., N] as x: second h + second_bias with h = dropout(a, p) [..., M] and
///   a = silu(gate x) · (first x + first_bias)   with a gate (SwiGLU; Shazeer 2020),
///   a = gelu(first x + first_bias)              without one (exact, by erf).
/// Every step is rounded to the type of x, so that the result has the bits of `linear`, `swiglu`,
/// `dropout_add` and `linear` one after another. The weights, of one type, may be float32 while x is
/// bfloat16, as those of `linear`. Dropout draws as `dropout_add` of h.
at::Tensor feed_forward(const at::Tensor& x, const FeedForwardWeights& weights, double p = 0,
                        DropoutKey key = {});

}  // namespace modewise::ops
