// First order only.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/autograd/saved_tensors.h"
#include "modewise/ops/normalization/rms_norm.h"
#include "modewise/ops/normalization/rms_norm_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               const std::optional<at::Tensor>& weight, double eps) {
    const at::AutoDispatchBelowADInplaceOrView below;
    auto [out, rstd] = rms_norm_stats(x, weight, eps);
    context->save_for_backward({x, weight.value_or(at::Tensor()), rstd});
    context->saved_data["eps"] = eps;
    context->mark_non_differentiable({rstd});
    return {out, rstd};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    if (!grads[0].defined()) return {{}, {}, {}};
    auto [grad_x, grad_weight] = rms_norm_backward(grads[0], saved[0], saved[2], optional(saved[1]));
    return {grad_x, saved[1].defined() ? grad_weight.to(saved[1].scalar_type()) : at::Tensor(), {}};
  }
  static std::optional<int> products(AutogradContext&, int64_t output) {
    return output == 0 ? std::optional(0) : std::nullopt;
  }
  static at::Tensor make(AutogradContext& context) {
    const auto saved = context.get_saved_variables();
    return rms_norm(saved[0], saved[1], context.saved_data["eps"].toDouble());
  }
};
const Recomputable<RmsNorm> rms_norm_recomputable;

std::tuple<at::Tensor, at::Tensor> rms_norm_stats_autograd(const at::Tensor& x,
                                                           const std::optional<at::Tensor>& weight,
                                                           double eps) {
  check_rms_norm_args(x, weight, eps);
  auto out = RmsNorm::apply(x, weight, eps);
  return {out[0], out[1]};
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("rms_norm_stats", rms_norm_stats_autograd);
  m.impl("rms_norm_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
