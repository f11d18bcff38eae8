// First order only; the gradient uses the output.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/mode_scores.h"
#include "modewise/ops/autograd/saved_tensors.h"
#include "modewise/ops/training/recompute_mode.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Keys k [B, M, H·d] with 0 where key_mask is false: their scores are 0, and 0 times NaN is NaN.
at::Tensor without_removed(const at::Tensor& k, const at::Tensor& key_mask, int64_t heads) {
  if (!key_mask.defined()) return k;
  const at::Tensor removed = key_mask.logical_not();
  if (removed.dim() == 2) return k.masked_fill(removed.unsqueeze(-1), 0);
  return k.unflatten_symint(-1, {heads, k.sym_size(-1) / heads})
      .masked_fill(removed.transpose(1, 2).unsqueeze(-1), 0)
      .reshape_symint(k.sym_sizes());
}

struct ModeScores : torch::autograd::Function<ModeScores> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, int64_t heads,
                            const std::optional<at::Tensor>& key_mask,
                            const std::optional<at::Tensor>& mode_mask) {
    const at::AutoDispatchBelowADInplaceOrView below;
    auto scores = mode_scores(q, k, heads, key_mask, mode_mask);
    const bool again = recompute_mode();
    context->save_for_backward({again ? at::Tensor() : scores, q, k, key_mask.value_or(at::Tensor()),
                                again ? mode_mask.value_or(at::Tensor()) : at::Tensor()});
    context->saved_data["heads"] = heads;
    return scores;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const int64_t heads = context->saved_data["heads"].toInt();
    auto [grad_q, grad_k] = mode_scores_backward(grads[0], saved[0].defined() ? saved[0] : make(*context),
                                                 saved[1], without_removed(saved[2], saved[3], heads), heads);
    return {grad_q, grad_k, {}, {}, {}};
  }
  static std::optional<int> products(AutogradContext& context, int64_t) {
    return context.get_saved_variables()[0].defined() ? std::nullopt : std::optional(0);
  }
  static at::Tensor make(AutogradContext& context) {
    const auto saved = context.get_saved_variables();
    return mode_scores(saved[1], saved[2], context.saved_data["heads"].toInt(), optional(saved[3]),
                       optional(saved[4]));
  }
};
const Recomputable<ModeScores> mode_scores_recomputable;

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
