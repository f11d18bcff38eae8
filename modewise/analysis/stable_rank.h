#pragma once
// Stable rank ‖A‖_F² / ‖A‖_2² (Higher-Order Transformers, section 4.4.1, equation 10): the effective number
// of directions of a matrix, between 1 and its rank. For Kronecker attention over N_1 × … × N_k tokens (one
// matrix per mode) it is computed without forming the N × N matrix.
//
// The numerator of the paper's equation 12 for the Kronecker sum is correct if the sum over (i, l) runs over
// ordered pairs i ≠ l. Its denominator (Σ ‖S_i‖_2)² is an upper bound of ‖⊕ S_i‖_2², reached by symmetric
// (normal) S_i but in general not by attention matrices. So `sum_stable_rank` computes the norm itself;
// `sum_stable_rank_printed` is the paper's expression, a lower bound of it.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::analysis {

/// One square matrix per mode, batched over samples and heads. A mode without a matrix is the identity in the
/// product and has no term in the sum.
struct ModeFactors {
  std::vector<int64_t> sizes;        // N_1 … N_k
  std::vector<int64_t> modes;        // mode of each matrix, counted from 0
  std::vector<at::Tensor> matrices;  // [..., N_i, N_i], equal leading shapes
};

/// Stable rank sr of each of [..., M, N] -> [...] float64; 0 for a zero matrix. Computed in float64, one
/// thread per matrix: the same bits for any number of threads.
at::Tensor stable_rank(const at::Tensor& matrices);

/// sr(S_1 ⊗ … ⊗ S_k) = Π sr(S_i) (equation 11), times N_j for each mode without a matrix -> [...] float64.
at::Tensor product_stable_rank(const ModeFactors& factors);

/// sr(S_1 ⊕ … ⊕ S_k), invariant to a factor 1/k -> [...] float64. The norm needs mode products only.
at::Tensor sum_stable_rank(const ModeFactors& factors);

/// Equation 12 as printed: (Σ ‖S_i‖_2)² in place of ‖⊕ S_i‖_2².
at::Tensor sum_stable_rank_printed(const ModeFactors& factors);

}  // namespace modewise::analysis
