// The gradient is a broadcast sum; for higher orders ATen records its plain formula.

#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/mode_pool_checks.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::optional<at::Tensor> saved_mask(const at::Tensor& mask) {
  return optional(mask);
}

struct ModePool : torch::autograd::Function<ModePool> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const std::string& pooling,
                               const std::optional<at::Tensor>& token_mask) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({token_mask.value_or(at::Tensor())});
    context->saved_data["sizes"] = x.sym_sizes().vec();
    context->saved_data["pooling"] = pooling;
    return mode_pool(x, pooling_from("mode_pool", pooling), token_mask);
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto sizes = context->saved_data["sizes"].toSymIntVector();
    at::TensorOptions options;
    for (const auto& grad : grads)
      if (grad.defined()) options = grad.options();
    for (size_t i = 0; i < grads.size(); ++i)
      if (!grads[i].defined()) grads[i] = at::zeros_symint({sizes[0], sizes[i + 1], sizes.back()}, options);
    return {mode_pool_backward(grads, sizes, context->saved_data["pooling"].toStringRef(),
                               saved_mask(context->get_saved_variables()[0])),
            {},
            {}};
  }
};

std::vector<at::Tensor> mode_pool_autograd(const at::Tensor& x, c10::string_view pooling,
                                           const std::optional<at::Tensor>& token_mask) {
  check_mode_pool_args(x, token_mask);
  return ModePool::apply(x, std::string(pooling), token_mask);
}

at::Tensor mode_pool_backward_autograd(at::TensorList grads, c10::SymIntArrayRef sizes,
                                       c10::string_view pooling,
                                       const std::optional<at::Tensor>& token_mask) {
  check_mode_pool_backward_args(grads, sizes, token_mask);
  const bool recorded =
      at::GradMode::is_enabled() &&
      std::any_of(grads.begin(), grads.end(), [](const auto& grad) { return grad.requires_grad(); });
  if (recorded)
    return reference::mode_pool_backward(grads, C10_AS_INTARRAYREF_SLOW(sizes),
                                         pooling_from("mode_pool_backward", pooling), token_mask);
  const at::AutoDispatchBelowADInplaceOrView below;
  return mode_pool_backward(grads, sizes, pooling, token_mask);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("mode_pool", mode_pool_autograd);
  m.impl("mode_pool_backward", mode_pool_backward_autograd);
}

}  // namespace modewise::ops
