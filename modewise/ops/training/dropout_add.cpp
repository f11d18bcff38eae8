#include "modewise/ops/training/dropout_add.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

void check_dropout_add_args(const std::optional<at::Tensor>& residual, const at::Tensor& x, double p) {
  check_floating("dropout_add", "x", x);
  check_dropout("dropout_add", p);
  if (!residual) return;
  check_same("dropout_add", "residual", *residual, "x", x);
  TORCH_CHECK_VALUE(residual->sym_sizes() == x.sym_sizes(), "dropout_add: residual must have the shape of x ",
                    x.sym_sizes(), ", got ", residual->sym_sizes());
}

namespace {

at::Tensor dropout_add_meta(const std::optional<at::Tensor>& residual, const at::Tensor& x, double p, int64_t,
                            int64_t step, int64_t site) {
  check_dropout_add_args(residual, x, p);
  check_dropout_place("dropout_add", step, site);
  return at::empty_symint(x.sym_sizes(), x.options());
}

}  // namespace

at::Tensor dropout_add(const at::Tensor& residual, const at::Tensor& x, double p, DropoutKey key) {
  if (p == 0 && !residual.defined()) return x;
  if (key.by_generator) {
    check_dropout_add_args(optional(residual), x, p);
    const at::Tensor dropped = at::dropout(x, p, true);
    return residual.defined() ? residual + dropped : dropped;
  }
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::dropout_add", "")
                             .typed<at::Tensor(const std::optional<at::Tensor>&, const at::Tensor&, double,
                                               int64_t, int64_t, int64_t)>();
  return op.call(optional(residual), x, p, static_cast<int64_t>(key.seed), static_cast<int64_t>(key.step),
                 key.site);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("dropout_add(Tensor? residual, Tensor x, float p, int seed, int step, int site) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("dropout_add", dropout_add_meta);
}

}  // namespace modewise::ops
