#pragma once
// Deterministic sums over rows, in an order that depends only on the sizes.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// parts [P, …] summed over P in order, in float64, then rounded to `type`.
at::Tensor sum_in_order(const at::Tensor& parts, at::ScalarType type);

/// x [R, M], contiguous, summed over R: chunks of rows by one thread each (row_tasks.h, add_in_pieces), then
/// the chunks in order.
at::Tensor sum_over_rows(const at::Tensor& x, at::ScalarType type);

}  // namespace modewise::ops
