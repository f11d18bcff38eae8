// First order only; saves x, weight and the moments.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/normalization/batch_norm.h"
#include "modewise/ops/normalization/batch_norm_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct BatchNorm : torch::autograd::Function<BatchNorm> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& bias, double eps) {
    const at::AutoDispatchBelowADInplaceOrView below;
    auto [out, mean, var] = batch_norm(x, weight, bias, eps);
    context->save_for_backward({x, weight, mean, var});
    context->saved_data["eps"] = eps;
    context->saved_data["bias_type"] = static_cast<int64_t>(bias.scalar_type());
    context->mark_non_differentiable({mean, var});
    return {out, mean, var};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(4);
    const auto saved = context->get_saved_variables();
    auto [grad_x, grad_weight, grad_bias] = batch_norm_backward(
        grads[0], saved[0], saved[2], saved[3], saved[1], context->saved_data["eps"].toDouble());
    const auto bias_type = static_cast<at::ScalarType>(context->saved_data["bias_type"].toInt());
    return {grad_x, grad_weight.to(saved[1].scalar_type()), grad_bias.to(bias_type), {}};
  }
};

std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_autograd(const at::Tensor& x,
                                                                   const at::Tensor& weight,
                                                                   const at::Tensor& bias, double eps) {
  check_batch_norm_args(x, weight, bias, eps);
  auto out = BatchNorm::apply(x, weight, bias, eps);
  return {out[0], out[1], out[2]};
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("batch_norm", batch_norm_autograd);
  m.impl("batch_norm_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
