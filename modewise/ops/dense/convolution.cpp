#include "modewise/ops/dense/convolution.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/dense/convolution_checks.h"

namespace modewise::ops {
namespace {

constexpr auto kConvolution = "convolution";

at::Tensor convolution_meta(const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                            at::IntArrayRef padding, at::IntArrayRef dilation) {
  const ConvolutionSteps steps{stride, padding, dilation};
  check_convolution_args(x, weight, bias, steps);
  return at::empty_symint(convolution_sizes(x, weight, steps), x.options());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward_meta(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool x_wanted, bool weight_wanted, bool bias_wanted) {
  check_convolution_backward_args(grad, x, weight, {stride, padding, dilation});
  const auto none = [](const at::Tensor& like) { return at::empty({0}, like.options()); };
  return {x_wanted ? at::empty_symint(x.sym_sizes(), x.options()) : none(x),
          weight_wanted ? at::empty_symint(weight.sym_sizes(), weight.options()) : none(weight),
          bias_wanted ? at::empty_symint({weight.sym_size(0)}, weight.options()) : none(weight)};
}

at::Tensor convolution_op(const at::Tensor& x, const at::Tensor& weight,
                          const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                          at::IntArrayRef padding, at::IntArrayRef dilation) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::convolution", "")
                             .typed<decltype(convolution_op)>();
  return op.call(x, weight, bias, stride, padding, dilation);
}

c10::SymInt size_of_mode(const at::Tensor& x, const at::Tensor& weight, const ConvolutionSteps& steps,
                         size_t mode) {
  const auto at = static_cast<int64_t>(mode);
  return (x.sym_size(at + 1) + 2 * steps.padding[mode] -
          (weight.sym_size(at + 2) - 1) * steps.dilation[mode] - 1) /
             steps.stride[mode] +
         1;
}

}  // namespace

c10::SymDimVector convolution_sizes(const at::Tensor& x, const at::Tensor& weight,
                                    const ConvolutionSteps& steps) {
  c10::SymDimVector sizes = {x.sym_size(0)};
  for (size_t mode = 0; mode < steps.stride.size(); ++mode)
    sizes.push_back(size_of_mode(x, weight, steps, mode));
  sizes.push_back(weight.sym_size(0));
  return sizes;
}

void check_convolution_args(const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const ConvolutionSteps& steps) {
  check_floating(kConvolution, "x", x);
  check_floating(kConvolution, "weight", weight);
  check_device(kConvolution, "weight", weight, "x", x);
  TORCH_CHECK_VALUE(x.dim() >= 3 && x.dim() <= 5, kConvolution,
                    ": x must be [B, N_1 … N_k, C] with one to three modes, got ", x.sym_sizes());
  TORCH_CHECK_VALUE(weight.dim() == x.dim() && weight.sym_size(1) == x.sym_size(-1), kConvolution,
                    ": weight must be [C', ", x.sym_size(-1), ", K_1 … K_", x.dim() - 2, "] for x ",
                    x.sym_sizes(), ", got ", weight.sym_sizes());
  TORCH_CHECK_VALUE(weight.sym_size(0) >= 1 && weight.sym_size(1) >= 1, kConvolution,
                    ": weight must have at least one input and one output channel, got ", weight.sym_sizes());
  const auto modes = static_cast<size_t>(x.dim()) - 2;
  check_integers(kConvolution, "stride", steps.stride, modes, 1);
  check_integers(kConvolution, "padding", steps.padding, modes, 0);
  check_integers(kConvolution, "dilation", steps.dilation, modes, 1);
  for (size_t mode = 0; mode < modes; ++mode) {
    const auto at = static_cast<int64_t>(mode);
    const auto taps = weight.sym_size(at + 2);
    TORCH_CHECK_VALUE(taps >= 1 && taps <= kMaxInteger &&
                          x.sym_size(at + 1) + 2 * steps.padding[mode] > (taps - 1) * steps.dilation[mode],
                      kConvolution, ": the kernel must fit into mode ", mode, " of x ", x.sym_sizes(),
                      " with its padding, got weight ", weight.sym_sizes());
  }
  if (!bias || !bias->defined()) return;
  check_same(kConvolution, "bias", *bias, "weight", weight);
  TORCH_CHECK_VALUE(bias->dim() == 1 && bias->sym_size(0) == weight.sym_size(0), kConvolution,
                    ": bias must be [", weight.sym_size(0), "] for weight ", weight.sym_sizes(), ", got ",
                    bias->sym_sizes());
}

void check_convolution_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                                     const ConvolutionSteps& steps) {
  check_convolution_args(x, weight, {}, steps);
  check_same("convolution_backward", "grad", grad, "x", x);
  const auto wanted = convolution_sizes(x, weight, steps);
  TORCH_CHECK_VALUE(grad.sym_sizes() == c10::SymIntArrayRef(wanted), "convolution_backward: grad must be ",
                    c10::SymIntArrayRef(wanted), " for x ", x.sym_sizes(), ", got ", grad.sym_sizes());
}

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       const std::vector<int64_t>& stride, const std::vector<int64_t>& padding,
                       const std::vector<int64_t>& dilation) {
  return convolution_op(x, weight, optional(bias), stride, padding, dilation);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool x_wanted, bool weight_wanted, bool bias_wanted) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::convolution_backward", "")
                             .typed<decltype(convolution_backward)>();
  return op.call(grad, x, weight, stride, padding, dilation, x_wanted, weight_wanted, bias_wanted);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "convolution(Tensor x, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation) -> "
      "Tensor");
  m.def(
      "convolution_backward(Tensor grad, Tensor x, Tensor weight, int[] stride, int[] padding, int[] "
      "dilation, "
      "bool x_wanted=True, bool weight_wanted=True, bool bias_wanted=True) -> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("convolution", convolution_meta);
  m.impl("convolution_backward", convolution_backward_meta);
}

}  // namespace modewise::ops
