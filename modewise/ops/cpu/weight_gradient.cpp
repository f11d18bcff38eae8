#include "modewise/ops/cpu/weight_gradient.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/cpu/row_sums.h"

namespace modewise::ops {

namespace {

/// Minimum rows per part and maximum number of parts, so that the sums are small compared with the rows.
constexpr int64_t kPartRows = 2048, kMaxParts = 16;

}  // namespace

RowParts row_parts(int64_t rows) {
  const int64_t minimum = std::max(kPartRows, (rows + kMaxParts - 1) / kMaxParts);
  const int64_t each = (minimum + kGemmPiece - 1) / kGemmPiece * kGemmPiece;
  return {each, (rows + each - 1) / each};
}

namespace {

/// plan_of(first row, gradᵀ of a part's rows, output for its sums) returns the GEMM plan of that part.
template <class PlanOf>
at::Tensor sum_of_parts(const at::Tensor& grad, int64_t columns, at::ScalarType type, const PlanOf& plan_of) {
  const auto [each, count] = row_parts(grad.size(0));
  const auto wide = grad.options().dtype(accumulate_type(grad.scalar_type()));
  const auto parts = at::empty({count, grad.size(1), columns}, wide);
  std::vector<GemmPlan> plans;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = i * each, here = std::min(each, grad.size(0) - first);
    plans.push_back(plan_of(first, grad.narrow(0, first, here).t(), parts[i]));
  }
  gemm(grad.scalar_type(), plans);
  return sum_in_order(parts, type);
}

}  // namespace

at::Tensor product_over_rows(const at::Tensor& grad, const at::Tensor& rows, at::ScalarType type) {
  return sum_of_parts(grad, rows.size(1), type,
                      [&](int64_t first, const at::Tensor& part, const at::Tensor& out) {
                        return gemm_plan(part, rows.narrow(0, first, part.size(1)), {}, out);
                      });
}

at::Tensor product_over_rows(const at::Tensor& grad, const LinedMatrix& rows, int64_t columns,
                             at::ScalarType type) {
  return sum_of_parts(grad, columns, type, [&](int64_t first, const at::Tensor& part, const at::Tensor& out) {
    return gemm_plan(part, rows, first, out);
  });
}

}  // namespace modewise::ops
