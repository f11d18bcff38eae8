// First order only; saves rows, mask and mean.

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/normalization/masked_moments.h"
#include "modewise/ops/normalization/masked_moments_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct MaskedMoments : torch::autograd::Function<MaskedMoments> {
  static variable_list forward(AutogradContext* context, const at::Tensor& rows, const at::Tensor& mask) {
    const at::AutoDispatchBelowADInplaceOrView below;
    auto [mean, var, count] = masked_moments(rows, mask);
    context->save_for_backward({rows, mask, mean});
    context->mark_non_differentiable({count});
    return {mean, var, count};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto or_zero = [&](const at::Tensor& grad) {
      return grad.defined() ? grad : at::zeros_like(saved[2]);
    };
    return {masked_moments_backward(or_zero(grads[0]), or_zero(grads[1]), saved[0], saved[1], saved[2]), {}};
  }
};

std::tuple<at::Tensor, at::Tensor, at::Tensor> masked_moments_autograd(const at::Tensor& rows,
                                                                       const at::Tensor& mask) {
  check_masked_moments_args(rows, mask);
  auto out = MaskedMoments::apply(rows, mask);
  return {out[0], out[1], out[2]};
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("masked_moments", masked_moments_autograd);
  m.impl("masked_moments_backward", torch::autograd::autogradNotImplementedFallback());
  m.impl("update_moments", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
