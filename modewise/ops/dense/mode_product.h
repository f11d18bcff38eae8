#pragma once
// Mode product (Kolda and Bader 2009; HOT, Definition 3.5): the primitive of product attention, sum
// attention, decompositions and synthesizers. Differentiable to any order.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace modewise::ops {

/// out[b, …, m, …, c] = Σ_n factor[m, n] · x[b, …, n, …, c] along token mode `mode` (0 is the first after B).
/// x [B, N_1 … N_k, D]; factor [M, N] shared by all, or [B, H, M, N] per sample and head with H | D, where
/// head h owns channels h·D/H … (h+1)·D/H − 1. Result [B, N_1 … M … N_k, D]. float32, float64 or bfloat16
/// (accumulated in float32). Raises ValueError with the shapes when they do not match.
at::Tensor mode_product(const at::Tensor& x, const at::Tensor& factor, int64_t mode);

/// Adjoint in the factor: out[b, h, m, n] = Σ over the other modes and the head's channels of a[b, …, m, …,
/// c] · x[b, …, n, …, c]. a [B, N_1 … M … N_k, D], x [B, N_1 … N … N_k, D]; heads > 0 gives [B, heads, M, N],
/// heads = 0 sums over the batch too and gives [M, N].
at::Tensor mode_contract(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads);

}  // namespace modewise::ops
