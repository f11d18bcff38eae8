#include "modewise/ops/normalization/rms_norm.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/normalization/rms_norm_checks.h"

namespace modewise::ops {

namespace {

using Pair = std::tuple<at::Tensor, at::Tensor>;

Pair rms_norm_stats_meta(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps) {
  check_rms_norm_args(x, weight, eps);
  return {at::empty_symint(x.sym_sizes(), x.options()),
          at::empty_symint(x.sym_sizes().slice(0, static_cast<size_t>(x.dim()) - 1),
                           x.options().dtype(accumulate_type(x.scalar_type())))};
}

Pair rms_norm_backward_meta(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& rstd,
                            const std::optional<at::Tensor>& weight) {
  check_rms_norm_backward_args(grad, x, rstd, weight);
  return {at::empty_symint(x.sym_sizes(), x.options()),
          at::empty_symint({x.sym_size(-1)}, x.options().dtype(accumulate_type(x.scalar_type())))};
}

at::Tensor rms_norm_composite(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps) {
  return std::get<0>(rms_norm_stats(x, weight, eps));
}

}  // namespace

void check_rms_norm_args(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps) {
  check_floating("rms_norm", "x", x);
  TORCH_CHECK_VALUE(x.dim() >= 1, "rms_norm: x must be [..., D], got a scalar");
  TORCH_CHECK_VALUE(eps >= 0, "rms_norm: eps must not be negative, got ", eps);
  if (!weight) return;
  check_floating("rms_norm", "weight", *weight);
  check_device("rms_norm", "weight", *weight, "x", x);
  TORCH_CHECK_VALUE(weight->dim() == 1 && weight->sym_size(0) == x.sym_size(-1), "rms_norm: weight must be [",
                    x.sym_size(-1), "] for x ", x.sym_sizes(), ", got ", weight->sym_sizes());
}

void check_rms_norm_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& rstd,
                                  const std::optional<at::Tensor>& weight) {
  check_rms_norm_args(x, weight, 0);
  check_same("rms_norm_backward", "grad", grad, "x", x);
  TORCH_CHECK_VALUE(grad.sym_sizes() == x.sym_sizes(), "rms_norm_backward: grad must have the shape of x ",
                    x.sym_sizes(), ", got ", grad.sym_sizes());
  check_device("rms_norm_backward", "rstd", rstd, "x", x);
  TORCH_CHECK_VALUE(rstd.sym_sizes() == x.sym_sizes().slice(0, static_cast<size_t>(x.dim()) - 1),
                    "rms_norm_backward: rstd must have the shape of x's rows, got ", rstd.sym_sizes());
}

Pair rms_norm_stats(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::rms_norm_stats", "")
                             .typed<decltype(rms_norm_stats)>();
  return op.call(x, weight, eps);
}

Pair rms_norm_backward(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& rstd,
                       const std::optional<at::Tensor>& weight) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::rms_norm_backward", "")
                             .typed<decltype(rms_norm_backward)>();
  return op.call(grad, x, rstd, weight);
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return rms_norm_composite(x, optional(weight), eps);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("rms_norm(Tensor x, Tensor? weight=None, float eps=1e-5) -> Tensor");
  m.def("rms_norm_stats(Tensor x, Tensor? weight, float eps) -> (Tensor, Tensor)");
  m.def("rms_norm_backward(Tensor grad, Tensor x, Tensor rstd, Tensor? weight) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(modewise, CompositeImplicitAutograd, m) {
  m.impl("rms_norm", rms_norm_composite);
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("rms_norm_stats", rms_norm_stats_meta);
  m.impl("rms_norm_backward", rms_norm_backward_meta);
}

}  // namespace modewise::ops
