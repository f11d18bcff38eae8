#pragma once
// Stable rank ‖A‖_F² / ‖A‖_2² (Higher-Order Transformers, section 4.4.1, equation 10): how many directions a
// matrix spreads over, from 1 to its rank. For attention over N_1 × … × N_k tokens made of one matrix a mode
// it is found without forming the N × N matrix.
//
// The paper's equation 12 for the Kronecker sum is right in its numerator, where the sum over (i, l) runs
// over ordered pairs i ≠ l. Its denominator (Σ ‖S_i‖_2)² is an upper bound of ‖⊕ S_i‖_2² that is reached by
// symmetric (normal) S_i and, in general, not by attention matrices. So `sum_stable_rank` finds the norm
// itself, and `sum_stable_rank_printed` is the paper's expression, a lower bound of it.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::analysis {

/// One square matrix a mode, for several samples and heads at once. A mode without a matrix is left as it is:
/// the identity in the product, no term in the sum.
struct ModeFactors {
  std::vector<int64_t> sizes;        // N_1 … N_k
  std::vector<int64_t> modes;        // mode of each matrix, counted from 0
  std::vector<at::Tensor> matrices;  // [..., N_i, N_i], the same leading shape
};

/// sr of each of [..., M, N] -> [...] float64; 0 for a zero matrix. Computed in float64, one matrix by one
/// thread: the same bits for any number of threads.
at::Tensor stable_rank(const at::Tensor& matrices);

/// sr(S_1 ⊗ … ⊗ S_k) = Π sr(S_i) (equation 11), times N_j for each mode without a matrix -> [...] float64.
at::Tensor product_stable_rank(const ModeFactors& factors);

/// sr(S_1 ⊕ … ⊕ S_k), which a factor 1/k does not change -> [...] float64. The norm takes mode products
/// alone.
at::Tensor sum_stable_rank(const ModeFactors& factors);

/// Equation 12 as printed: (Σ ‖S_i‖_2)² for ‖⊕ S_i‖_2².
at::Tensor sum_stable_rank_printed(const ModeFactors& factors);

}  // namespace modewise::analysis
