#include "modewise/ops/normalization/layer_norm.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/normalization/layer_norm_checks.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

namespace {

void check_affine(const char* name, const std::optional<at::Tensor>& weight, const at::Tensor& x) {
  if (!weight) return;
  check_floating("layer_norm", name, *weight);
  check_device("layer_norm", name, *weight, "x", x);
  TORCH_CHECK_VALUE(weight->dim() == 1 && weight->sym_size(0) == x.sym_size(-1), "layer_norm: ", name,
                    " must be [", x.sym_size(-1), "] for x ", x.sym_sizes(), ", got ", weight->sym_sizes());
}

at::Tensor empty_statistics(const at::Tensor& x) {
  return at::empty_symint(x.sym_sizes().slice(0, x.dim() - 1),
                          x.options().dtype(accumulate_type(x.scalar_type())));
}

}  // namespace

void check_layer_norm_args(const at::Tensor& x, const std::optional<at::Tensor>& weight,
                           const std::optional<at::Tensor>& bias, double eps) {
  check_floating("layer_norm", "x", x);
  TORCH_CHECK_VALUE(x.dim() >= 1, "layer_norm: x must be [..., D], got a scalar");
  TORCH_CHECK_VALUE(eps >= 0, "layer_norm: eps must not be negative, got ", eps);
  check_affine("weight", weight, x);
  check_affine("bias", bias, x);
}

void check_layer_norm_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean,
                                    const at::Tensor& rstd, const std::optional<at::Tensor>& weight,
                                    const std::optional<at::Tensor>& grad_sum) {
  check_layer_norm_args(x, weight, {}, 0);
  check_same("layer_norm_backward", "grad", grad, "x", x);
  TORCH_CHECK_VALUE(grad.sym_sizes() == x.sym_sizes(), "layer_norm_backward: grad must have the shape of x ",
                    x.sym_sizes(), ", got ", grad.sym_sizes());
  if (grad_sum) check_device("layer_norm_backward", "grad_sum", *grad_sum, "x", x);
  check_device("layer_norm_backward", "mean", mean, "x", x);
  check_device("layer_norm_backward", "rstd", rstd, "x", x);
  TORCH_CHECK_VALUE(!grad_sum || grad_sum->sym_sizes() == x.sym_sizes(),
                    "layer_norm_backward: grad_sum must have the shape of x ", x.sym_sizes());
  TORCH_CHECK_VALUE(mean.sym_sizes() == x.sym_sizes().slice(0, x.dim() - 1),
                    "layer_norm_backward: mean must have the shape of x's rows, got ", mean.sym_sizes());
}

void check_dropout_add_norm_args(const at::Tensor& residual, const at::Tensor& x, double p,
                                 const std::optional<at::Tensor>& weight,
                                 const std::optional<at::Tensor>& bias, double eps) {
  check_layer_norm_args(x, weight, bias, eps);
  check_dropout_add_args(residual, x, p);
}

namespace {

using Triple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using Quadruple = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

Triple layer_norm_stats_meta(const at::Tensor& x, const std::optional<at::Tensor>& weight,
                             const std::optional<at::Tensor>& bias, double eps) {
  check_layer_norm_args(x, weight, bias, eps);
  return {at::empty_symint(x.sym_sizes(), x.options()), empty_statistics(x), empty_statistics(x)};
}

Triple layer_norm_backward_meta(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean,
                                const at::Tensor& rstd, const std::optional<at::Tensor>& weight,
                                const std::optional<at::Tensor>& grad_sum) {
  check_layer_norm_backward_args(grad, x, mean, rstd, weight, grad_sum);
  const auto options = x.options().dtype(accumulate_type(x.scalar_type()));
  return {at::empty_symint(x.sym_sizes(), x.options()), at::empty_symint({x.sym_size(-1)}, options),
          at::empty_symint({x.sym_size(-1)}, options)};
}

Quadruple dropout_add_norm_stats_meta(const at::Tensor& residual, const at::Tensor& x, double p, int64_t,
                                      int64_t step, int64_t site, const std::optional<at::Tensor>& weight,
                                      const std::optional<at::Tensor>& bias, double eps) {
  check_dropout_add_norm_args(residual, x, p, weight, bias, eps);
  check_dropout_place("dropout_add_norm", step, site);
  return {at::empty_symint(x.sym_sizes(), x.options()), at::empty_symint(x.sym_sizes(), x.options()),
          empty_statistics(x), empty_statistics(x)};
}

at::Tensor layer_norm_composite(const at::Tensor& x, const std::optional<at::Tensor>& weight,
                                const std::optional<at::Tensor>& bias, double eps) {
  return std::get<0>(layer_norm_stats(x, weight, bias, eps));
}

std::tuple<at::Tensor, at::Tensor> dropout_add_norm_composite(
    const at::Tensor& residual, const at::Tensor& x, double p, int64_t seed, int64_t step, int64_t site,
    const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias, double eps) {
  auto [sum, normed, mean, rstd] =
      dropout_add_norm_stats(residual, x, p, seed, step, site, weight, bias, eps);
  return {sum, normed};
}

}  // namespace

Triple layer_norm_stats(const at::Tensor& x, const std::optional<at::Tensor>& weight,
                        const std::optional<at::Tensor>& bias, double eps) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::layer_norm_stats", "")
                             .typed<decltype(layer_norm_stats)>();
  return op.call(x, weight, bias, eps);
}

Triple layer_norm_backward(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean,
                           const at::Tensor& rstd, const std::optional<at::Tensor>& weight,
                           const std::optional<at::Tensor>& grad_sum) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::layer_norm_backward", "")
                             .typed<decltype(layer_norm_backward)>();
  return op.call(grad, x, mean, rstd, weight, grad_sum);
}

Quadruple dropout_add_norm_stats(const at::Tensor& residual, const at::Tensor& x, double p, int64_t seed,
                                 int64_t step, int64_t site, const std::optional<at::Tensor>& weight,
                                 const std::optional<at::Tensor>& bias, double eps) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::dropout_add_norm_stats", "")
                             .typed<decltype(dropout_add_norm_stats)>();
  return op.call(residual, x, p, seed, step, site, weight, bias, eps);
}

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  return layer_norm_composite(x, optional(weight), optional(bias), eps);
}

ResidualNorm dropout_add_norm(const at::Tensor& residual, const at::Tensor& x, double p, DropoutKey key,
                              const at::Tensor& weight, const at::Tensor& bias, double eps) {
  auto [sum, normed] = dropout_add_norm_composite(residual, x, p, static_cast<int64_t>(key.seed),
                                                  static_cast<int64_t>(key.step), key.site, optional(weight),
                                                  optional(bias), eps);
  return {sum, normed};
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("layer_norm(Tensor x, Tensor? weight=None, Tensor? bias=None, float eps=1e-5) -> Tensor");
  m.def("layer_norm_stats(Tensor x, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)");
  m.def(
      "layer_norm_backward(Tensor grad, Tensor x, Tensor mean, Tensor rstd, Tensor? weight, Tensor? "
      "grad_sum) -> "
      "(Tensor, Tensor, Tensor)");
  m.def(
      "dropout_add_norm(Tensor residual, Tensor x, float p, int seed, int step, int site, Tensor? "
      "weight=None, "
      "Tensor? bias=None, float eps=1e-5) -> (Tensor, Tensor)");
  m.def(
      "dropout_add_norm_stats(Tensor residual, Tensor x, float p, int seed, int step, int site, Tensor? "
      "weight, "
      "Tensor? bias, float eps) -> (Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(modewise, CompositeImplicitAutograd, m) {
  m.impl("layer_norm", layer_norm_composite);
  m.impl("dropout_add_norm", dropout_add_norm_composite);
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("layer_norm_stats", layer_norm_stats_meta);
  m.impl("layer_norm_backward", layer_norm_backward_meta);
  m.impl("dropout_add_norm_stats", dropout_add_norm_stats_meta);
}

}  // namespace modewise::ops
