#pragma once
// The gradient of a weight: a sum over rows along a tree that the number of rows alone decides.

#include <ATen/core/Tensor.h>

#include "modewise/ops/cpu/gemm_plan.h"

namespace modewise::ops {

/// Rows are cut into `count` parts of `each` rows, whole pieces of kGemmPiece (the last part may be shorter).
/// The sums of a part are those of a product, in the type of sums; the parts are added in order.
struct RowParts {
  int64_t each, count;
};
RowParts row_parts(int64_t rows);

/// gradᵀ · rows [M, K] of `type` from grad [R, M] and rows [R, K] by any strides.
at::Tensor product_over_rows(const at::Tensor& grad, const at::Tensor& rows, at::ScalarType type);
/// The same of rows that lie in lines.
at::Tensor product_over_rows(const at::Tensor& grad, const LinedMatrix& rows, int64_t columns,
                             at::ScalarType type);

}  // namespace modewise::ops
