// First order only; saves the arguments.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/synthesized_attention_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Maybe = std::optional<at::Tensor>;

struct SynthesizedAttention : torch::autograd::Function<SynthesizedAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& v, const Maybe& left,
                            const Maybe& right, const Maybe& outer, const Maybe& inner, int64_t rows,
                            const Maybe& key_mask, bool causal) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const SynthesizedLogits logits = {left.value_or(at::Tensor()), right.value_or(at::Tensor()),
                                      outer.value_or(at::Tensor()), inner.value_or(at::Tensor())};
    context->save_for_backward(
        {v, logits.left, logits.right, logits.outer, logits.inner, key_mask.value_or(at::Tensor())});
    context->saved_data["rows"] = rows;
    context->saved_data["causal"] = causal;
    return synthesized_attention(v, logits, rows, key_mask, causal);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const SynthesizedLogits logits = {saved[1], saved[2], saved[3], saved[4]};
    auto [v, left, right, outer, inner] =
        synthesized_attention_backward(grads[0], saved[0], logits, context->saved_data["rows"].toInt(),
                                       optional(saved[5]), context->saved_data["causal"].toBool());
    const auto where = [](const at::Tensor& argument, const at::Tensor& grad) {
      return argument.defined() ? grad : at::Tensor();
    };
    return {v,
            where(logits.left, left),
            where(logits.right, right),
            where(logits.outer, outer),
            where(logits.inner, inner),
            {},
            {},
            {}};
  }
};

at::Tensor synthesized_attention_autograd(const at::Tensor& v, const Maybe& left, const Maybe& right,
                                          const Maybe& outer, const Maybe& inner, int64_t rows,
                                          const Maybe& key_mask, bool causal) {
  check_synthesized_attention_args(v,
                                   {left.value_or(at::Tensor()), right.value_or(at::Tensor()),
                                    outer.value_or(at::Tensor()), inner.value_or(at::Tensor())},
                                   rows, key_mask, causal);
  return SynthesizedAttention::apply(v, left, right, outer, inner, rows, key_mask, causal);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("synthesized_attention", synthesized_attention_autograd);
  m.impl("synthesized_attention_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
