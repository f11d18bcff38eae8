#pragma once
// Eigenvalues and vectors of a symmetric matrix.

#include <ATen/core/Tensor.h>

namespace modewise::models {

/// matrix = vectors · diag(values) · vectorsᵀ, values ascending.
struct SymmetricEigen {
  at::Tensor values, vectors;  // [N], [N, N] with a vector a column
};

/// Of a symmetric [N, N] float64. On one thread, so that the bits do not depend on their number.
SymmetricEigen symmetric_eigen(const at::Tensor& matrix);

}  // namespace modewise::models
