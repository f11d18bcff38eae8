#pragma once
// Weight gradient: a sum over rows in an order that depends only on the number of rows.

#include <ATen/core/Tensor.h>

#include "modewise/ops/cpu/gemm_plan.h"

namespace modewise::ops {

/// Rows are split into `count` parts of `each` rows, whole pieces of kGemmPiece (the last part may be
/// shorter). Each part is summed as a GEMM in the accumulate type; the parts are added in order.
struct RowParts {
  int64_t each, count;
};
RowParts row_parts(int64_t rows);

/// gradᵀ · rows [M, K] of `type` from grad [R, M] and rows [R, K] of any strides.
at::Tensor product_over_rows(const at::Tensor& grad, const at::Tensor& rows, at::ScalarType type);
/// The same for an im2col matrix of rows.
at::Tensor product_over_rows(const at::Tensor& grad, const LinedMatrix& rows, int64_t columns,
                             at::ScalarType type);

}  // namespace modewise::ops
