#include "modewise/ops/dense/matmul.h"

#include <ATen/ExpandUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>

#include "modewise/ops/arguments.h"
#include "modewise/ops/dense/matmul_checks.h"

namespace modewise::ops {

namespace {

constexpr auto kMatmul = "matmul";

at::Tensor matmul_meta(const at::Tensor& a, const at::Tensor& b) {
  check_matmul_args(a, b);
  auto sizes = matmul_batch(a, b);
  sizes.push_back(a.sym_size(-2));
  sizes.push_back(b.sym_size(-1));
  return at::empty_symint(sizes, a.options());
}

bool broadcast_fits(const at::Tensor& a, const at::Tensor& b) {
  for (int64_t i = 3; i <= std::min(a.dim(), b.dim()); ++i)
    if (a.sym_size(-i) != b.sym_size(-i) && a.sym_size(-i) != 1 && b.sym_size(-i) != 1) return false;
  return true;
}

}  // namespace

void check_matmul_args(const at::Tensor& a, const at::Tensor& b) {
  check_floating(kMatmul, "a", a);
  check_same(kMatmul, "b", b, "a", a);
  TORCH_CHECK_VALUE(a.dim() >= 2, kMatmul, ": a must be [.., M, K], got ", a.sym_sizes());
  TORCH_CHECK_VALUE(b.dim() >= 2 && b.sym_size(-2) == a.sym_size(-1) && broadcast_fits(a, b), kMatmul,
                    ": b must be [.., ", a.sym_size(-1), ", N] with batch dimensions that broadcast with a ",
                    a.sym_sizes(), ", got ", b.sym_sizes());
}

std::vector<c10::SymInt> matmul_batch(const at::Tensor& a, const at::Tensor& b) {
  return at::infer_size_symint(a.sym_sizes().slice(0, static_cast<size_t>(a.dim()) - 2),
                               b.sym_sizes().slice(0, static_cast<size_t>(b.dim()) - 2));
}

at::Tensor matmul(const at::Tensor& a, const at::Tensor& b) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("modewise::matmul", "").typed<decltype(matmul)>();
  return op.call(a, b);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("matmul(Tensor a, Tensor b) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("matmul", matmul_meta);
}

}  // namespace modewise::ops
