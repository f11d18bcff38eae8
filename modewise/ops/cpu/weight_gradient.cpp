#include "modewise/ops/cpu/weight_gradient.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/cpu/row_sums.h"

namespace modewise::ops {

namespace {

/// Rows of one part at least, and parts at most, so that they stay small beside the rows.
constexpr int64_t kPartRows = 2048, kMostParts = 16;

}  // namespace

RowParts row_parts(int64_t rows) {
  const int64_t least = std::max(kPartRows, (rows + kMostParts - 1) / kMostParts);
  const int64_t each = (least + kGemmPiece - 1) / kGemmPiece * kGemmPiece;
  return {each, (rows + each - 1) / each};
}

at::Tensor product_over_rows(const at::Tensor& grad, const at::Tensor& rows, at::ScalarType type) {
  const auto [each, count] = row_parts(rows.size(0));
  const auto wide = grad.options().dtype(accumulate_type(grad.scalar_type()));
  const auto parts = at::empty({count, grad.size(1), rows.size(1)}, wide);
  std::vector<GemmPlan> plans;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = i * each, here = std::min(each, rows.size(0) - first);
    plans.push_back(gemm_plan(grad.narrow(0, first, here).t(), rows.narrow(0, first, here), {}, parts[i]));
  }
  gemm(grad.scalar_type(), plans);
  return sum_in_order(parts, type);
}

}  // namespace modewise::ops
