// First order only. Saves the residual sum: x and the dropped elements are recomputed from it and the key.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/autograd/saved_tensors.h"
#include "modewise/ops/normalization/layer_norm.h"
#include "modewise/ops/normalization/layer_norm_checks.h"
#include "modewise/ops/training/dropout_add.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor as_type_of(const at::Tensor& grad, const at::Tensor& parameter) {
  return parameter.defined() ? grad.to(parameter.scalar_type()) : at::Tensor();
}

/// Recomputes the result; saved are the normalised rows, weight and bias.
at::Tensor norm_of_saved(AutogradContext& context) {
  const auto saved = context.get_saved_variables();
  return layer_norm(saved[0], saved[1], saved[2], context.saved_data["eps"].toDouble());
}

struct LayerNorm : torch::autograd::Function<LayerNorm> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
                               double eps) {
    const at::AutoDispatchBelowADInplaceOrView below;
    auto [out, mean, rstd] = layer_norm_stats(x, weight, bias, eps);
    context->save_for_backward({x, weight.value_or(at::Tensor()), bias.value_or(at::Tensor()), mean, rstd});
    context->saved_data["eps"] = eps;
    context->mark_non_differentiable({mean, rstd});
    return {out, mean, rstd};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    if (!grads[0].defined()) return {{}, {}, {}, {}};
    auto [grad_x, grad_weight, grad_bias] =
        layer_norm_backward(grads[0], saved[0], saved[3], saved[4], optional(saved[1]), {});
    return {grad_x, as_type_of(grad_weight, saved[1]), as_type_of(grad_bias, saved[2]), {}};
  }
  static std::optional<int> products(AutogradContext&, int64_t output) {
    return output == 0 ? std::optional(0) : std::nullopt;
  }
  static at::Tensor make(AutogradContext& context) { return norm_of_saved(context); }
};
const Recomputable<LayerNorm> layer_norm_recomputable;

struct DropoutAddNorm : torch::autograd::Function<DropoutAddNorm> {
  static variable_list forward(AutogradContext* context, const at::Tensor& residual, const at::Tensor& x,
                               double p, int64_t seed, int64_t step, int64_t site,
                               const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
                               double eps) {
    const at::AutoDispatchBelowADInplaceOrView below;
    auto [sum, out, mean, rstd] = dropout_add_norm_stats(residual, x, p, seed, step, site, weight, bias, eps);
    context->save_for_backward({sum, weight.value_or(at::Tensor()), bias.value_or(at::Tensor()), mean, rstd});
    context->saved_data["p"] = p;
    context->saved_data["eps"] = eps;
    context->saved_data["key"] = std::vector<int64_t>{seed, step, site};
    context->mark_non_differentiable({mean, rstd});
    return {sum, out, mean, rstd};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto key = context->saved_data["key"].toIntVector();
    at::Tensor grad_sum = grads[0], grad_weight, grad_bias;
    if (grads[1].defined())
      std::tie(grad_sum, grad_weight, grad_bias) =
          layer_norm_backward(grads[1], saved[0], saved[3], saved[4], optional(saved[1]), optional(grads[0]));
    if (!grad_sum.defined()) return variable_list(9);
    const auto grad_x = dropout_add({}, grad_sum, context->saved_data["p"].toDouble(),
                                    dropout_key("dropout_add_norm", key[0], key[1], key[2]));
    return {
        grad_sum, grad_x, {}, {}, {}, {}, as_type_of(grad_weight, saved[1]), as_type_of(grad_bias, saved[2]),
        {}};
  }
  static std::optional<int> products(AutogradContext&, int64_t output) {
    return output == 1 ? std::optional(0) : std::nullopt;
  }
  static at::Tensor make(AutogradContext& context) { return norm_of_saved(context); }
};
const Recomputable<DropoutAddNorm> dropout_add_norm_recomputable;

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_stats_autograd(
    const at::Tensor& x, const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
    double eps) {
  check_layer_norm_args(x, weight, bias, eps);
  auto out = LayerNorm::apply(x, weight, bias, eps);
  return {out[0], out[1], out[2]};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> dropout_add_norm_stats_autograd(
    const at::Tensor& residual, const at::Tensor& x, double p, int64_t seed, int64_t step, int64_t site,
    const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias, double eps) {
  check_dropout_add_norm_args(residual, x, p, weight, bias, eps);
  auto out = DropoutAddNorm::apply(residual, x, p, seed, step, site, weight, bias, eps);
  return {out[0], out[1], out[2], out[3]};
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("layer_norm_stats", layer_norm_stats_autograd);
  m.impl("layer_norm_backward", torch::autograd::autogradNotImplementedFallback());
  m.impl("dropout_add_norm_stats", dropout_add_norm_stats_autograd);
}

}  // namespace modewise::ops
