#pragma once
// Scaled dot-product attention on modewise's own GEMM, deterministic for any number of threads; libtorch's is
// not for some shapes.

#include <ATen/core/Tensor.h>

#include <optional>

namespace modewise::ops {

/// softmax(scale · q kᵀ) v for each sample and head: q [B, n, H, d], k [B, m, G, d], v [B, m, G', e], G and
/// G' divisors of H -> [B, n, H, e]. mask is bool, true = may attend, and broadcasts to [B, H, n, m]; causal
/// (n = m) applies the causal mask. A row without any key is 0. Scores exist for one block of rows at a
/// time, in float32 or wider, and are recomputed in backward.
at::Tensor dot_product_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const std::optional<at::Tensor>& mask, bool causal, double scale);

}  // namespace modewise::ops
