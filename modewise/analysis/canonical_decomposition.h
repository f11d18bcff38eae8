#pragma once
// Canonical polyadic (CP) decomposition T ≈ Σ_r λ_r a_r ∘ b_r ∘ … (Kolda and Bader 2009, section 3): the SVD
// for matrices, the vector itself for order 1, from order 3 on alternating least squares (ALS) with line
// search from several starts. Rank-R approximations of order 3 and more need not be unique, nor need a best
// one exist; the result is the best one found.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::analysis {

struct CanonicalOptions {
  int64_t starts = 0;         // ALS starts: singular vectors, then random; 0: 8 … 96, by tensor size
  int64_t trial = 40;         // ALS sweeps per start; the best quarter of the starts continues
  int64_t iterations = 1000;  // maximum sweeps of those
  double tolerance = 1e-9;    // stops when a sweep lowers the error by less than this fraction
  uint64_t seed = 0;          // of the random starts (counter-based)
};

struct CanonicalDecomposition {
  at::Tensor weights;               // [R] float64, positive, descending
  std::vector<at::Tensor> factors;  // [d_i, R] float64, unit columns
  double error = 0;                 // ‖T − approximation‖_F / ‖T‖_F
  int64_t iterations = 0;           // sweeps of the best start; 0 without ALS
  int64_t start = -1;  // the best start: −1 none, 0 a smaller decomposition, 1 singular vectors, 2 … random
};

/// `tensor` [d_1 … d_k] of any floating type, computed in float64. `smaller`, a decomposition of the same
/// tensor with fewer terms, is an additional start, so that the error does not increase with the rank. The
/// same bits for any number of threads (starts run in parallel). A zero tensor has weights 0 and error 0.
CanonicalDecomposition canonical_decomposition(const at::Tensor& tensor, int64_t rank,
                                               const CanonicalOptions& options = {},
                                               const CanonicalDecomposition* smaller = nullptr);

/// Σ_r λ_r a_r ∘ b_r ∘ … [d_1 … d_k].
at::Tensor reconstructed(const CanonicalDecomposition& decomposition);

/// ‖tensor − approximation‖_F / ‖tensor‖_F; 0 for an exact approximation of a zero tensor.
double relative_error(const at::Tensor& tensor, const at::Tensor& approximation);

/// Mode-`mode` unfolding (matricization), the other modes in order: [d_mode, rest].
at::Tensor unfolded(const at::Tensor& tensor, int64_t mode);

}  // namespace modewise::analysis
