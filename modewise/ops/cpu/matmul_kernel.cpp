// One plan a matrix of the batch; the threads share the products of all of them.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/matmul_checks.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

/// t [..., R, C] with leading sizes `batch`, without a copy.
at::Tensor expanded(const at::Tensor& t, std::vector<int64_t> batch) {
  batch.push_back(t.size(-2));
  batch.push_back(t.size(-1));
  return t.expand(batch);
}

/// Where the matrices of t [..., R, C] begin, last leading size fastest, in elements.
std::vector<int64_t> matrix_offsets(const at::Tensor& t) {
  std::vector<int64_t> offsets = {0};
  for (int64_t i = 0; i < t.dim() - 2; ++i) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(t.size(i)));
    for (const int64_t offset : offsets)
      for (int64_t j = 0; j < t.size(i); ++j) next.push_back(offset + j * t.stride(i));
    offsets = std::move(next);
  }
  return offsets;
}

at::Tensor matmul_tiles(const at::Tensor& a, const at::Tensor& b) {
  const auto batch = C10_AS_INTARRAYREF_SLOW(c10::SymIntArrayRef(matmul_batch(a, b))).vec();
  auto sizes = batch;
  sizes.push_back(a.size(-2));
  sizes.push_back(b.size(-1));
  const auto out = at::empty(sizes, a.options());
  if (out.numel() == 0) return out;
  const auto left = expanded(a, batch), right = expanded(b, batch);
  const auto a_at = matrix_offsets(left), b_at = matrix_offsets(right), out_at = matrix_offsets(out);
  GemmPlan plan{.rows = a.size(-2),
                .columns = b.size(-1),
                .depth = a.size(-1),
                .a = nullptr,
                .a_row = a.stride(-2),
                .a_col = a.stride(-1),
                .b = nullptr,
                .b_row = b.stride(-2),
                .b_col = b.stride(-1),
                .bias = nullptr,
                .out = nullptr,
                .out_row = b.size(-1),
                .wide = false};
  const int64_t element = out.element_size();
  std::vector<GemmPlan> plans;
  plans.reserve(out_at.size());
  for (size_t i = 0; i < out_at.size(); ++i) {
    plan.a = static_cast<const char*>(a.const_data_ptr()) + a_at[i] * element;
    plan.b = static_cast<const char*>(b.const_data_ptr()) + b_at[i] * element;
    plan.out = static_cast<char*>(out.mutable_data_ptr()) + out_at[i] * element;
    plans.push_back(plan);
  }
  gemm(a.scalar_type(), plans);
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&)> matmul_kernels(
    "matmul", {{"tiles", decltype(matmul_kernels)::takes_all, matmul_tiles},
               {"reference", decltype(matmul_kernels)::takes_all, reference::matmul}});

at::Tensor matmul_checked(const at::Tensor& a, const at::Tensor& b) {
  check_matmul_args(a, b);
  return matmul_kernels.run(a.device(), a, b);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("matmul", matmul_checked);
}

}  // namespace modewise::ops
