#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/mode_pool_checks.h"

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

struct ModePoolBackward : torch::autograd::Function<ModePoolBackward> {
  static at::Tensor forward(AutogradContext* context, const variable_list& grads,
                            const std::vector<c10::SymInt>& sizes, const std::string& pooling,
                            const std::optional<at::Tensor>& token_mask) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({token_mask.value_or(at::Tensor())});
    context->saved_data["pooling"] = pooling;
    return mode_pool_backward(grads, sizes, pooling, token_mask);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    auto pooled = mode_pool(grads[0], pooling_from("mode_pool", context->saved_data["pooling"].toStringRef()),
                            saved_mask(context->get_saved_variables()[0]));
    pooled.resize(pooled.size() + 3);
    return pooled;
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
  check_mode_pool_backward_args(grads, sizes);
  return ModePoolBackward::apply(variable_list(grads.begin(), grads.end()), sizes.vec(), std::string(pooling),
                                 token_mask);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("mode_pool", mode_pool_autograd);
  m.impl("mode_pool_backward", mode_pool_backward_autograd);
}

}  // namespace modewise::ops
