#pragma once
// The canonical polyadic (CP) decomposition T ≈ Σ_r λ_r a_r ∘ b_r ∘ … (Kolda and Bader 2009, section 3): for
// matrices the singular value decomposition, for order 1 the vector itself, from order 3 by alternating least
// squares with a line search from several starts. Rank-R approximations of order 3 and more need not be
// unique, nor need a best one exist; what is returned is the best that was found.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::analysis {

struct CanonicalOptions {
  int64_t starts = 0;  // leading singular vectors, then random ones; 0: as many as the size allows, 8 … 96
  int64_t trial = 40;  // sweeps over the modes from each start; a quarter of them, the best, go on
  int64_t iterations = 1000;  // most sweeps of those
  double tolerance = 1e-9;    // ends when a sweep lowers the error by less than this part of it
  uint64_t seed = 0;          // of the random starts, which are counter-based
};

struct CanonicalDecomposition {
  at::Tensor weights;               // [R] float64, positive, falling
  std::vector<at::Tensor> factors;  // [d_i, R] float64, columns of length 1
  double error = 0;                 // ‖T − its approximation‖_F / ‖T‖_F, of the tensors themselves
  int64_t iterations = 0;           // of the start that won; 0 where nothing was iterated
  int64_t start = -1;  // which one: −1 none, 0 a smaller decomposition, 1 singular vectors, 2 … random
};

/// `tensor` [d_1 … d_k] of any floating type, computed in float64. `smaller`, a decomposition of the same
/// tensor with fewer terms, is one more start, so that the error does not rise with the rank. The same bits
/// for any number of threads (starts run side by side). A tensor of zeros has weights 0 and error 0.
CanonicalDecomposition canonical_decomposition(const at::Tensor& tensor, int64_t rank,
                                               const CanonicalOptions& options = {},
                                               const CanonicalDecomposition* smaller = nullptr);

/// Σ_r λ_r a_r ∘ b_r ∘ … [d_1 … d_k].
at::Tensor reconstructed(const CanonicalDecomposition& decomposition);

/// ‖tensor − approximation‖_F / ‖tensor‖_F; 0 for a tensor of zeros that is met exactly.
double relative_error(const at::Tensor& tensor, const at::Tensor& approximation);

/// Mode `mode` as rows, the others in order: [d_mode, rest].
at::Tensor unfolded(const at::Tensor& tensor, int64_t mode);

}  // namespace modewise::analysis
