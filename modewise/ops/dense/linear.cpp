#include "modewise/ops/dense/linear.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/dense/linear_checks.h"

namespace modewise::ops {
namespace {

c10::SymDimVector with_last(c10::SymIntArrayRef sizes, const c10::SymInt& last) {
  c10::SymDimVector out(sizes.begin(), sizes.end());
  out.back() = last;
  return out;
}

at::Tensor linear_meta(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  check_linear_args(x, weight, bias);
  return at::empty_symint(with_last(x.sym_sizes(), weight.sym_size(0)), x.options());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> linear_backward_meta(const at::Tensor& grad,
                                                                    const at::Tensor& x,
                                                                    const at::Tensor& weight, bool x_wanted,
                                                                    bool weight_wanted, bool bias_wanted) {
  check_linear_backward_args(grad, x, weight);
  const auto none = [](const at::Tensor& like) { return at::empty({0}, like.options()); };
  return {x_wanted ? at::empty_symint(x.sym_sizes(), x.options()) : none(x),
          weight_wanted ? at::empty_symint(weight.sym_sizes(), weight.options()) : none(weight),
          bias_wanted ? at::empty_symint({weight.sym_size(0)}, weight.options()) : none(weight)};
}

at::Tensor linear_op(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("modewise::linear", "").typed<decltype(linear_op)>();
  return op.call(x, weight, bias);
}

}  // namespace

void check_linear_args(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  check_floating("linear", "x", x);
  check_floating("linear", "weight", weight);
  check_device("linear", "weight", weight, "x", x);
  TORCH_CHECK_VALUE(x.dim() >= 1, "linear: x must be [..., N], got a scalar");
  TORCH_CHECK_VALUE(weight.dim() == 2 && weight.sym_size(1) == x.sym_size(-1), "linear: weight must be [M, ",
                    x.sym_size(-1), "] for x ", x.sym_sizes(), ", got ", weight.sym_sizes());
  if (!bias || !bias->defined()) return;
  check_same("linear", "bias", *bias, "weight", weight);
  TORCH_CHECK_VALUE(bias->dim() == 1 && bias->sym_size(0) == weight.sym_size(0), "linear: bias must be [",
                    weight.sym_size(0), "] for weight ", weight.sym_sizes(), ", got ", bias->sym_sizes());
}

void check_linear_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight) {
  check_linear_args(x, weight, {});
  check_same("linear_backward", "grad", grad, "x", x);
  const auto wanted = with_last(x.sym_sizes(), weight.sym_size(0));
  TORCH_CHECK_VALUE(grad.sym_sizes() == c10::SymIntArrayRef(wanted), "linear_backward: grad must be ",
                    c10::SymIntArrayRef(wanted), " for x ", x.sym_sizes(), ", got ", grad.sym_sizes());
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return linear_op(x, weight, optional(bias));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> linear_backward(const at::Tensor& grad, const at::Tensor& x,
                                                               const at::Tensor& weight, bool x_wanted,
                                                               bool weight_wanted, bool bias_wanted) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::linear_backward", "")
                             .typed<decltype(linear_backward)>();
  return op.call(grad, x, weight, x_wanted, weight_wanted, bias_wanted);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("linear(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor");
  m.def(
      "linear_backward(Tensor grad, Tensor x, Tensor weight, bool x_wanted=True, bool weight_wanted=True, "
      "bool bias_wanted=True) -> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("linear", linear_meta);
  m.impl("linear_backward", linear_backward_meta);
}

}  // namespace modewise::ops
