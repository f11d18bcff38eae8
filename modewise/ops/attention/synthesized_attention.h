#pragma once
// Synthesizer attention, with weights that need no dot product of tokens (Tay et al. 2020; "Synthesizer Based
// Efficient Self-Attention for Vision Tasks", arXiv 2201.01410, Eq. 11-20). All variants have logits that are
// a product of two narrow matrices (one may depend on the sample) plus a Kronecker product of parameters; a
// mixture has both.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace modewise::ops {

/// Logits Z [B, H, n, m] = left rightᵀ + outer ⊗ inner, either part or both.
struct SynthesizedLogits {
  at::Tensor left;   // [B, n, H, c]
  at::Tensor right;  // [B, m, H, c], or [1, m, H, c] shared by all samples
  at::Tensor outer;  // [H, α, β]
  at::Tensor inner;  // [H, α', β']: α·α' ≥ n and β·β' ≥ m; only the first n rows and m columns are used
};

/// softmax(Z) v by rows: v [B, m, H, e] -> [B, n, H, e] for n `rows`. key_mask [B, m] bool, true = may
/// attend; `causal` (n ≤ m): row i attends to columns j ≤ i. A row without any key is 0. Weights exist for
/// one block of rows at a time, in float32 or wider, once for all samples where these share them, and are
/// recomputed in backward: memory does not grow with n · m.
at::Tensor synthesized_attention(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                                 const std::optional<at::Tensor>& key_mask = {}, bool causal = false);

}  // namespace modewise::ops
