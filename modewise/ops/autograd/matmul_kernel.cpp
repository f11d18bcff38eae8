// d(a b) = da b + a db: both gradients are matrix products.

#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/dense/matmul.h"
#include "modewise/ops/dense/matmul_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Matmul : torch::autograd::Function<Matmul> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& a, const at::Tensor& b) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({a, b});
    return ops::matmul(a, b);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &a = saved[0], &b = saved[1], &grad = grads[0];
    variable_list out(2);
    if (context->needs_input_grad(0))
      out[0] = at::sum_to(ops::matmul(grad, b.transpose(-1, -2)), a.sym_sizes());
    if (context->needs_input_grad(1))
      out[1] = at::sum_to(ops::matmul(a.transpose(-1, -2), grad), b.sym_sizes());
    return out;
  }
};

at::Tensor matmul_autograd(const at::Tensor& a, const at::Tensor& b) {
  check_matmul_args(a, b);
  return Matmul::apply(a, b);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("matmul", matmul_autograd);
}

}  // namespace modewise::ops
