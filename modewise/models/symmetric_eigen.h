#pragma once
// Eigendecomposition of a symmetric matrix.

#include <ATen/core/Tensor.h>

namespace modewise::models {

/// matrix = vectors · diag(values) · vectorsᵀ, values ascending.
struct SymmetricEigen {
  at::Tensor values, vectors;  // [N], [N, N] with eigenvectors as columns
};

/// Eigendecomposition of a symmetric [N, N] float64, on one thread: the bits do not depend on the number of
/// threads.
SymmetricEigen symmetric_eigen(const at::Tensor& matrix);

}  // namespace modewise::models
