// Derivatives from the argument and the result, in the accumulate type.

#include "modewise/ops/dense/elementary.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <string>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/dense/elementary_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor slope_of(std::string_view function, const at::Tensor& x, const at::Tensor& y) {
  if (function == "exp") return y;
  if (function == "log") return x.reciprocal();
  if (function == "sqrt") return 0.5 / y;
  if (function == "sin") return elementary(x, "cos");
  if (function == "cos") return -elementary(x, "sin");
  if (function == "tanh") return 1 - y * y;
  TORCH_CHECK(function == "gelu", "elementary: the gradient of ", function, " is not implemented");
  return elementary(x, "gelu_slope");
}

struct Elementary : torch::autograd::Function<Elementary> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const std::string& function) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const auto out = elementary(x, function);
    context->save_for_backward({x, out});
    context->saved_data["function"] = function;
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto type = accumulate_type(saved[0].scalar_type());
    const auto slope =
        slope_of(context->saved_data["function"].toStringRef(), saved[0].to(type), saved[1].to(type));
    return {(grads[0].to(type) * slope).to(saved[0].scalar_type()), {}};
  }
};

at::Tensor elementary_autograd(const at::Tensor& x, std::string_view function) {
  check_elementary_args(x, function);
  return Elementary::apply(x, std::string(function));
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("elementary", elementary_autograd);
}

}  // namespace modewise::ops
