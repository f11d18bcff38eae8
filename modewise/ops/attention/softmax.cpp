#include "modewise/ops/attention/softmax.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/softmax.h>
#include <torch/csrc/autograd/custom_function.h>

namespace modewise::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Softmax : torch::autograd::Function<Softmax> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const auto out = at::softmax(x, -1);
    context->save_for_backward({out});
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const at::Tensor out = context->get_saved_variables()[0], weighted = grads[0] * out;
    return {weighted - out * weighted.sum(-1, true)};
  }
};

}  // namespace

at::Tensor softmax(const at::Tensor& x) {
  return Softmax::apply(x);
}

}  // namespace modewise::ops
