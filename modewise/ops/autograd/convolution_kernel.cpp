// First order only; saves input and weight.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/dense/convolution.h"
#include "modewise/ops/dense/convolution_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct ConvolutionFunction : torch::autograd::Function<ConvolutionFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const std::vector<int64_t>& stride,
                            const std::vector<int64_t>& padding, const std::vector<int64_t>& dilation) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x, weight});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->saved_data["dilation"] = dilation;
    context->saved_data["bias"] = bias.has_value() && bias->defined();
    return ops::convolution(x, weight, bias.value_or(at::Tensor()), stride, padding, dilation);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto steps = [&](const char* name) { return context->saved_data[name].toIntVector(); };
    const bool x_wanted = context->needs_input_grad(0), weight_wanted = context->needs_input_grad(1);
    const bool bias_wanted = context->saved_data["bias"].toBool() && context->needs_input_grad(2);
    auto [x, weight, bias] =
        ops::convolution_backward(grads[0], saved[0], saved[1], steps("stride"), steps("padding"),
                                  steps("dilation"), x_wanted, weight_wanted, bias_wanted);
    return {x_wanted ? x : at::Tensor(),
            weight_wanted ? weight : at::Tensor(),
            bias_wanted ? bias : at::Tensor(),
            {},
            {},
            {}};
  }
};

at::Tensor convolution_autograd(const at::Tensor& x, const at::Tensor& weight,
                                const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                                at::IntArrayRef padding, at::IntArrayRef dilation) {
  check_convolution_args(x, weight, bias, {stride, padding, dilation});
  return ConvolutionFunction::apply(x, weight, bias, stride.vec(), padding.vec(), dilation.vec());
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("convolution", convolution_autograd);
  m.impl("convolution_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
