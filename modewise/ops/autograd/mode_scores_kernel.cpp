// mode_scores to first order, from its own output.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/mode_scores.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct ModeScores : torch::autograd::Function<ModeScores> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, int64_t heads,
                            const std::optional<at::Tensor>& key_mask,
                            const std::optional<at::Tensor>& mode_mask) {
    const at::AutoDispatchBelowADInplaceOrView below;
    auto scores = mode_scores(q, k, heads, key_mask, mode_mask);
    context->save_for_backward({scores, q, k});
    context->saved_data["heads"] = heads;
    return scores;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    auto [grad_q, grad_k] =
        mode_scores_backward(grads[0], saved[0], saved[1], saved[2], context->saved_data["heads"].toInt());
    return {grad_q, grad_k, {}, {}, {}};
  }
};

at::Tensor mode_scores_autograd(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                                const std::optional<at::Tensor>& key_mask,
                                const std::optional<at::Tensor>& mode_mask) {
  check_mode_scores_args(q, k, heads, key_mask, mode_mask);
  return ModeScores::apply(q, k, heads, key_mask, mode_mask);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("mode_scores", mode_scores_autograd);
  m.impl("mode_scores_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
