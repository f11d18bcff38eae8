#pragma once
// The largest singular value of a linear map that is known by what it does to a vector, so that a Kronecker
// sum over thousands of tokens never becomes a matrix.

#include <cstdint>
#include <functional>

namespace modewise::analysis {

/// A real map from R^columns to R^rows. Both functions overwrite their second argument.
struct LinearMap {
  int64_t rows = 0, columns = 0;
  std::function<void(const double* x, double* y)> apply;             // y = A x
  std::function<void(const double* y, double* x)> apply_transposed;  // x = Aᵀ y
};

/// ‖A‖_2 by Golub-Kahan-Lanczos bidiagonalisation with full reorthogonalisation, from a counter-based random
/// start: to about 1e-14 relative, exact after min(rows, columns) steps. One thread, so equal bits
/// everywhere. Memory: 2 · steps vectors, at most `most_steps` of them.
double spectral_norm(const LinearMap& map, int64_t max_steps = 500);

}  // namespace modewise::analysis
