#include "modewise/ops/dense/mode_product.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/dense/mode_product_checks.h"

namespace modewise::ops {

void check_mode_product_args(const at::Tensor& x, const at::Tensor& factor, int64_t mode) {
  constexpr auto kOp = "mode_product";
  check_tokens(kOp, "x", x);
  check_mode(kOp, x, mode);
  check_floating(kOp, "factor", factor);
  TORCH_CHECK_VALUE(factor.scalar_type() == x.scalar_type() ||
                        (factor.scalar_type() == at::kFloat && x.scalar_type() == at::kBFloat16),
                    kOp, ": factor must have the type of x, ", x.scalar_type(),
                    ", or be float32 for bfloat16, got ", factor.scalar_type());
  check_device(kOp, "factor", factor, "x", x);
  const bool shared = factor.dim() == 2;
  TORCH_CHECK_VALUE((shared || factor.dim() == 4) && factor.sym_size(-1) == x.sym_size(mode + 1), kOp,
                    ": factor must be [.., M, ", x.sym_size(mode + 1), "] for mode ", mode, " of x ",
                    x.sym_sizes(), ", got ", factor.sym_sizes());
  if (shared) return;
  TORCH_CHECK_VALUE(factor.sym_size(0) == x.sym_size(0), kOp, ": factor must be [", x.sym_size(0),
                    ", H, M, N] for the batch of x ", x.sym_sizes(), ", got ", factor.sym_sizes());
  TORCH_CHECK_VALUE(factor.sym_size(1) >= 1 && x.sym_size(-1) % factor.sym_size(1) == 0, kOp,
                    ": the heads of factor [B, H, M, N] must divide the last size of x ", x.sym_sizes(),
                    ", got ", factor.sym_sizes());
}

void check_mode_contract_args(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads) {
  constexpr auto kOp = "mode_contract";
  check_tokens(kOp, "x", x);
  check_mode(kOp, x, mode);
  check_same(kOp, "a", a, "x", x);
  bool fits = a.dim() == x.dim();
  for (int64_t i = 0; fits && i < x.dim(); ++i) fits = i == mode + 1 || a.sym_size(i) == x.sym_size(i);
  TORCH_CHECK_VALUE(fits, kOp, ": a must have the sizes of x ", x.sym_sizes(), " except in mode ", mode,
                    ", got ", a.sym_sizes());
  if (heads != 0) check_heads(kOp, x, heads);
}

namespace {

at::Tensor mode_product_meta(const at::Tensor& x, const at::Tensor& factor, int64_t mode) {
  check_mode_product_args(x, factor, mode);
  auto sizes = x.sym_sizes().vec();
  sizes[static_cast<size_t>(mode) + 1] = factor.sym_size(-2);
  return at::empty_symint(sizes, x.options());
}

at::Tensor mode_contract_meta(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads) {
  check_mode_contract_args(a, x, mode, heads);
  const c10::SymInt m = a.sym_size(mode + 1), n = x.sym_size(mode + 1);
  if (heads == 0) return at::empty_symint({m, n}, x.options());
  return at::empty_symint({x.sym_size(0), heads, m, n}, x.options());
}

}  // namespace

at::Tensor mode_product(const at::Tensor& x, const at::Tensor& factor, int64_t mode) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::mode_product", "")
                             .typed<decltype(mode_product)>();
  return op.call(x, factor, mode);
}

at::Tensor mode_contract(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::mode_contract", "")
                             .typed<decltype(mode_contract)>();
  return op.call(a, x, mode, heads);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("mode_product(Tensor x, Tensor factor, int mode) -> Tensor");
  m.def("mode_contract(Tensor a, Tensor x, int mode, int heads) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("mode_product", mode_product_meta);
  m.impl("mode_contract", mode_contract_meta);
}

}  // namespace modewise::ops
