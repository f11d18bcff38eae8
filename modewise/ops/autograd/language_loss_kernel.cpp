// First order only; saves the gradients themselves.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/library.h>

#include "modewise/ops/training/language_loss.h"
#include "modewise/ops/training/language_loss_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// A saved gradient that raises when it is differentiated, in the backward pass of the node that saved it.
at::Tensor first_order(const at::Tensor& gradient) {
  if (!gradient.defined() || !at::GradMode::is_enabled()) return gradient;
  auto edges = torch::autograd::get_current_node()->next_edges();
  const auto error = c10::make_intrusive<torch::autograd::Error>(
      "derivative for modewise::language_loss_gradients is not implemented", std::move(edges));
  at::Tensor out = gradient.detach();
  torch::autograd::set_history(out, error);
  return out;
}

struct LanguageLoss : torch::autograd::Function<LanguageLoss> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& head,
                            const at::Tensor& targets, int64_t chunk) {
    const bool hidden_wanted = hidden.requires_grad(), head_wanted = head.requires_grad();
    const at::AutoDispatchBelowADInplaceOrView below;
    auto [loss, grad_hidden, grad_head] =
        language_loss_gradients(hidden, head, targets, chunk, hidden_wanted, head_wanted);
    context->save_for_backward(
        {hidden_wanted ? grad_hidden : at::Tensor(), head_wanted ? grad_head : at::Tensor()});
    return loss;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto scaled = [&](const at::Tensor& gradient) {
      return gradient.defined() ? first_order(gradient) * grads[0].to(gradient.scalar_type()) : at::Tensor();
    };
    return {scaled(saved[0]), scaled(saved[1]), {}, {}};
  }
};

at::Tensor language_loss_autograd(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                                  int64_t chunk) {
  check_language_loss_args("language_loss", hidden, head, targets, chunk);
  const bool wanted = at::GradMode::is_enabled() && (hidden.requires_grad() || head.requires_grad());
  if (wanted || hidden._fw_grad(0).defined() || head._fw_grad(0).defined())  // forward mode: apply raises
    return LanguageLoss::apply(hidden, head, targets, chunk);
  const at::AutoDispatchBelowADInplaceOrView below;
  return language_loss(hidden, head, targets, chunk);
}

at::Tensor token_losses_autograd(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                                 int64_t chunk) {
  const at::AutoDispatchBelowADInplaceOrView below;  // evaluation only: no gradient
  return token_losses(hidden, head, targets, chunk);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("language_loss", language_loss_autograd);
  m.impl("language_loss_gradients", torch::autograd::autogradNotImplementedFallback());
  m.impl("token_losses", token_losses_autograd);
}

}  // namespace modewise::ops
