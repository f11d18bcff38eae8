// d Σ x² = 2 x.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/training/sum_of_squares.h"
#include "modewise/ops/training/sum_of_squares_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct SumOfSquares : torch::autograd::Function<SumOfSquares> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x});
    return sum_of_squares(x);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const at::Tensor x = context->get_saved_variables()[0];
    return {(x.to(at::kDouble) * (grads[0] * 2)).to(x.scalar_type())};
  }
};

at::Tensor sum_of_squares_autograd(const at::Tensor& x) {
  check_sum_of_squares_args(x);
  return SumOfSquares::apply(x);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("sum_of_squares", sum_of_squares_autograd);
}

}  // namespace modewise::ops
