#pragma once
// A matrix as a sum of Kronecker products, A ≈ Σ_r λ_r U_1r ⊗ … ⊗ U_kr (Higher-Order Transformers, section
// 4.4.2 and appendix A.2; Long et al., attention tensorization, section 3): the CP decomposition of the
// matrix rearranged so that each pair (row mode i, column mode i) is one mode (Van Loan and Pitsianis 1993).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/analysis/canonical_decomposition.h"

namespace modewise::analysis {

struct KroneckerDecomposition {
  at::Tensor weights;               // [R] float64, positive, falling
  std::vector<at::Tensor> factors;  // U_i [R, M_i, N_i] float64, Frobenius length 1
  double error = 0;                 // ‖A − its approximation‖_F / ‖A‖_F
  int64_t iterations = 0, start = -1;

  int64_t rank() const { return weights.size(0); }
  /// Numbers in the factors, R Σ M_i N_i; the weights may be multiplied into them.
  int64_t parameters() const;
};

/// A [Π M_i, Π N_i] -> [M_1 N_1, …, M_k N_k]. Data error when the products do not fit the matrix.
at::Tensor rearranged(const at::Tensor& matrix, const std::vector<int64_t>& rows,
                      const std::vector<int64_t>& columns);
/// The reverse.
at::Tensor arranged_back(const at::Tensor& tensor, const std::vector<int64_t>& rows,
                         const std::vector<int64_t>& columns);

/// A square [N, N] with N = Π modes. For k = 2 it is the best there is (SVD); ranks above min_j Π_{i≠j} N_i²,
/// where every matrix is met exactly, are cut for k ≤ 2.
KroneckerDecomposition kronecker_decomposition(const at::Tensor& matrix, const std::vector<int64_t>& modes,
                                               int64_t rank, const CanonicalOptions& options = {});

/// One decomposition for each of `ranks`, ascending; each is a start of the next, so errors fall. Ends behind
/// the first whose error is at most `enough`.
std::vector<KroneckerDecomposition> kronecker_decompositions(const at::Tensor& matrix,
                                                             const std::vector<int64_t>& modes,
                                                             const std::vector<int64_t>& ranks,
                                                             const CanonicalOptions& options = {},
                                                             double enough = -1);

/// Σ_r λ_r U_1r ⊗ … ⊗ U_kr.
at::Tensor reconstructed(const KroneckerDecomposition& decomposition);

/// The rank at which any matrix over these modes is met exactly: min_j Π_{i≠j} N_i² (Theorem 4.3).
int64_t exact_rank(const std::vector<int64_t>& modes);

/// That exact decomposition, without iterations: one term for each entry of all modes but the largest, whose
/// factor holds the blocks of the matrix (the proof of Theorem 4.3).
KroneckerDecomposition exact_kronecker_decomposition(const at::Tensor& matrix,
                                                     const std::vector<int64_t>& modes);

}  // namespace modewise::analysis
