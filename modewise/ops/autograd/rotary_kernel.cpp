// Any order: the rotation is linear in x, and its transpose is the inverse rotation.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/attention/rotary.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Rotary : torch::autograd::Function<Rotary> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& angles,
                            double gain, bool inverse) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({angles});
    context->saved_data["gain"] = gain;
    context->saved_data["inverse"] = inverse;
    return rotary(x, angles, gain, inverse);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto angles = context->get_saved_variables()[0];
    return {rotary(grads[0], angles, context->saved_data["gain"].toDouble(),
                   !context->saved_data["inverse"].toBool()),
            {},
            {},
            {}};
  }
};

at::Tensor rotary_autograd(const at::Tensor& x, const at::Tensor& angles, double gain, bool inverse) {
  check_rotary_args(x, angles);
  return Rotary::apply(x, angles, gain, inverse);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("rotary", rotary_autograd);
}

}  // namespace modewise::ops
