// First order only; saves input, weight and bias.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/autograd/saved_tensors.h"
#include "modewise/ops/dense/linear.h"
#include "modewise/ops/dense/linear_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Linear : torch::autograd::Function<Linear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const at::Tensor added = bias.value_or(at::Tensor());
    context->save_for_backward({keep(*context, "x", x), weight, added});
    return ops::linear(x, weight, added);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const bool x_wanted = context->needs_input_grad(0), weight_wanted = context->needs_input_grad(1);
    const bool bias_wanted = saved[2].defined() && context->needs_input_grad(2);
    auto [x, weight, added] = linear_backward(grads[0], kept(*context, "x", saved[0]), saved[1], x_wanted,
                                              weight_wanted, bias_wanted);
    return {x_wanted ? x : at::Tensor(), weight_wanted ? weight : at::Tensor(),
            bias_wanted ? added : at::Tensor()};
  }
  static std::optional<int> products(AutogradContext& context, int64_t) {
    return products_of(context, "x") + 1;
  }
  static at::Tensor make(AutogradContext& context) {
    const auto saved = context.get_saved_variables();
    return ops::linear(kept(context, "x", saved[0]), saved[1], saved[2]);
  }
};
const Recomputable<Linear> linear_recomputable;

at::Tensor linear_autograd(const at::Tensor& x, const at::Tensor& weight,
                           const std::optional<at::Tensor>& bias) {
  check_linear_args(x, weight, bias);
  return Linear::apply(x, weight, bias);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("linear", linear_autograd);
  m.impl("linear_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
