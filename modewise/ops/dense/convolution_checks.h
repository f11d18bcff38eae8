#pragma once
// Argument checks of convolution, its sizes and its gradients.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>
#include <vector>

namespace modewise::ops {

/// How the kernel moves over the modes.
struct ConvolutionSteps {
  at::IntArrayRef stride, padding, dilation;
};

void check_convolution_args(const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const ConvolutionSteps& steps);
void check_convolution_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                                     const ConvolutionSteps& steps);

/// [B, M_1 … M_k, C'] of arguments that were checked.
c10::SymDimVector convolution_sizes(const at::Tensor& x, const at::Tensor& weight,
                                    const ConvolutionSteps& steps);

/// Gradients of convolution in x (as x), weight and bias (as weight) from grad [B, M_1 … M_k, C']. Those not
/// asked for are empty.
std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool x_wanted, bool weight_wanted, bool bias_wanted);

}  // namespace modewise::ops
