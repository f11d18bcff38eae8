// First order only: saves only the input, the gate is recomputed in backward.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/dense/swiglu.h"
#include "modewise/ops/dense/swiglu_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct SwiGlu : torch::autograd::Function<SwiGlu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate_and_up) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({gate_and_up});
    return swiglu(gate_and_up);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    return {swiglu_backward(grads[0], context->get_saved_variables()[0])};
  }
};

at::Tensor swiglu_autograd(const at::Tensor& gate_and_up) {
  check_swiglu_args(gate_and_up);
  return SwiGlu::apply(gate_and_up);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("swiglu", swiglu_autograd);
  m.impl("swiglu_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
