#pragma once
// Kronecker decomposition of a matrix, A ≈ Σ_r λ_r U_1r ⊗ … ⊗ U_kr (Higher-Order Transformers, section 4.4.2
// and appendix A.2; Long et al., attention tensorization, section 3): the CP decomposition of the matrix
// rearranged so that each pair (row mode i, column mode i) is one mode (Van Loan and Pitsianis 1993).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/analysis/canonical_decomposition.h"

namespace modewise::analysis {

struct KroneckerDecomposition {
  at::Tensor weights;               // [R] float64, positive, descending
  std::vector<at::Tensor> factors;  // U_i [R, M_i, N_i] float64, Frobenius norm 1
  double error = 0;                 // ‖A − approximation‖_F / ‖A‖_F
  int64_t iterations = 0, start = -1;

  int64_t rank() const { return weights.size(0); }
  /// Parameters of the factors, R Σ M_i N_i; the weights can be folded into them.
  int64_t parameters() const;
};

/// Rearranges A [Π M_i, Π N_i] -> [M_1 N_1, …, M_k N_k]. Data error if the products do not match the matrix.
at::Tensor rearranged(const at::Tensor& matrix, const std::vector<int64_t>& rows,
                      const std::vector<int64_t>& columns);
/// The inverse of rearranged().
at::Tensor arranged_back(const at::Tensor& tensor, const std::vector<int64_t>& rows,
                         const std::vector<int64_t>& columns);

/// Decomposes a square [N, N] with N = Π modes. Optimal for k = 2 (SVD); for k ≤ 2 the rank is limited to
/// min_j Π_{i≠j} N_i², which is exact for every matrix.
KroneckerDecomposition kronecker_decomposition(const at::Tensor& matrix, const std::vector<int64_t>& modes,
                                               int64_t rank, const CanonicalOptions& options = {});

/// One decomposition for each of `ranks`, ascending; each is a start of the next, so errors decrease. Stops
/// after the first with an error of at most `enough`.
std::vector<KroneckerDecomposition> kronecker_decompositions(const at::Tensor& matrix,
                                                             const std::vector<int64_t>& modes,
                                                             const std::vector<int64_t>& ranks,
                                                             const CanonicalOptions& options = {},
                                                             double enough = -1);

/// Σ_r λ_r U_1r ⊗ … ⊗ U_kr.
at::Tensor reconstructed(const KroneckerDecomposition& decomposition);

/// The rank that is exact for any matrix over these modes: min_j Π_{i≠j} N_i² (Theorem 4.3).
int64_t exact_rank(const std::vector<int64_t>& modes);

/// The exact decomposition in closed form: one term for each entry of all modes but the largest, whose factor
/// contains the blocks of the matrix (proof of Theorem 4.3).
KroneckerDecomposition exact_kronecker_decomposition(const at::Tensor& matrix,
                                                     const std::vector<int64_t>& modes);

}  // namespace modewise::analysis
