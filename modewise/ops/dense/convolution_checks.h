#pragma once
// Argument checks of convolution, its output sizes and its gradients.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>
#include <vector>

namespace modewise::ops {

/// Stride, padding and dilation, one per mode.
struct ConvolutionSteps {
  at::IntArrayRef stride, padding, dilation;
};

void check_convolution_args(const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const ConvolutionSteps& steps);
void check_convolution_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                                     const ConvolutionSteps& steps);

/// Output sizes [B, M_1 … M_k, C'] of checked arguments.
c10::SymDimVector convolution_sizes(const at::Tensor& x, const at::Tensor& weight,
                                    const ConvolutionSteps& steps);

/// Gradients of x (dtype of x), weight and bias (dtype of weight) from grad [B, M_1 … M_k, C']; empty where
/// not requested.
std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool x_wanted, bool weight_wanted, bool bias_wanted);

}  // namespace modewise::ops
