// First order only; saves q, k, v and the mask.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/attention/dot_product_attention.h"
#include "modewise/ops/attention/dot_product_attention_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct DotProductAttention : torch::autograd::Function<DotProductAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const std::optional<at::Tensor>& mask, bool causal,
                            double scale) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({q, k, v, mask.value_or(at::Tensor())});
    context->saved_data["causal"] = causal;
    context->saved_data["scale"] = scale;
    return dot_product_attention(q, k, v, mask, causal, scale);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto mask = saved[3].defined() ? std::optional(saved[3]) : std::nullopt;
    auto [q, k, v] = dot_product_attention_backward(grads[0], saved[0], saved[1], saved[2], mask,
                                                    context->saved_data["causal"].toBool(),
                                                    context->saved_data["scale"].toDouble());
    return {q, k, v, {}, {}, {}};
  }
};

at::Tensor attention_autograd(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const std::optional<at::Tensor>& mask, bool causal, double scale) {
  check_dot_product_attention_args(q, k, v, mask, causal);
  return DotProductAttention::apply(q, k, v, mask, causal, scale);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("dot_product_attention", attention_autograd);
  m.impl("dot_product_attention_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
