#pragma once
// Spectral norm of a matrix-free linear map, so that a Kronecker sum over thousands of tokens is never
// formed.

#include <cstdint>
#include <functional>

namespace modewise::analysis {

/// A linear map from R^columns to R^rows. Both functions overwrite their second argument.
struct LinearMap {
  int64_t rows = 0, columns = 0;
  std::function<void(const double* x, double* y)> apply;             // y = A x
  std::function<void(const double* y, double* x)> apply_transposed;  // x = Aᵀ y
};

/// ‖A‖_2 by Golub-Kahan-Lanczos bidiagonalization with full reorthogonalization, from a counter-based random
/// start: to about 1e-14 relative, exact after min(rows, columns) steps. Single-threaded, so
/// bit-reproducible. Memory: 2 vectors per step, at most `max_steps` steps.
double spectral_norm(const LinearMap& map, int64_t max_steps = 500);

}  // namespace modewise::analysis
