// One GEMM plan per matrix of the batch; threads share the products of all of them.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/dense/matmul_checks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

/// t [..., R, C] expanded to batch dimensions `batch`, as a view.
at::Tensor expanded(const at::Tensor& t, std::vector<int64_t> batch) {
  batch.push_back(t.size(-2));
  batch.push_back(t.size(-1));
  return t.expand(batch);
}

at::Tensor matmul_tiles(const at::Tensor& a, const at::Tensor& b) {
  const auto batch = C10_AS_INTARRAYREF_SLOW(c10::SymIntArrayRef(matmul_batch(a, b))).vec();
  auto sizes = batch;
  sizes.push_back(a.size(-2));
  sizes.push_back(b.size(-1));
  const auto out = at::empty(sizes, a.options());
  if (out.numel() == 0) return out;
  gemm(a.scalar_type(), gemm_plans(expanded(a, batch), expanded(b, batch), out));
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
