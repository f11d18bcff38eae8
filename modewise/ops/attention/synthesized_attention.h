#pragma once
// Attention whose weights need no dot product of tokens (synthesizers: Tay et al. 2020; "Synthesizer Based
// Efficient Self-Attention for Vision Tasks", arXiv 2201.01410, Eq. 11-20). Every form of its zoo has logits
// that are a product of two narrow matrices, one of them made from the sample or not, plus a Kronecker
// product that belongs to the model; a mixture has both.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace modewise::ops {

/// Logits Z [B, H, n, m] = left rightᵀ + outer ⊗ inner, either part or both.
struct SynthesizedLogits {
  at::Tensor left;   // [B, n, H, c]
  at::Tensor right;  // [B, m, H, c], or [1, m, H, c] for all samples
  at::Tensor outer;  // [H, α, β]
  at::Tensor inner;  // [H, α', β']: α·α' ≥ n and β·β' ≥ m, of which the first n rows and m columns count
};

/// softmax(Z) v by rows: v [B, m, H, e] -> [B, n, H, e] for n `rows`. key_mask [B, m] bool, true = kept;
/// `causal` (n ≤ m) keeps column j of row i for j ≤ i. A row of which nothing is kept is 0. The weights are
/// held for a block of rows at a time, in float32 at least, once for all samples where they are the same, and
/// made again in the backward pass: nothing grows with n · m.
at::Tensor synthesized_attention(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                                 const std::optional<at::Tensor>& key_mask = {}, bool causal = false);

}  // namespace modewise::ops
