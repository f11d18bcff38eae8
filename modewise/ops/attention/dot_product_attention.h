#pragma once
// Ordinary attention of tokens among tokens by products of our own, so that its bits do not depend on the
// number of threads; libtorch's does in some shapes.

#include <ATen/core/Tensor.h>

#include <optional>

namespace modewise::ops {

/// softmax(scale · q kᵀ) v for each sample and head: q [B, n, H, d], k [B, m, G, d], v [B, m, G', e], G and
/// G' divisors of H -> [B, n, H, e]. mask is bool, true = kept, and broadcasts to [B, H, n, m]; causal (n =
/// m) keeps tokens up to the own one. A row of which nothing is kept is NaN. The scores are held for a block
/// of rows at a time, in float32 at least, and computed again in the backward pass.
at::Tensor dot_product_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const std::optional<at::Tensor>& mask, bool causal, double scale);

}  // namespace modewise::ops
