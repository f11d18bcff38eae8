#pragma once
// Argument checks of linear, and its gradients.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace modewise::ops {

void check_linear_args(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias);
void check_linear_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight);

/// Gradients of x [..., K] (dtype of x), weight [M, K] and bias [M] (dtype of weight) from grad [..., M];
/// empty where not requested.
std::tuple<at::Tensor, at::Tensor, at::Tensor> linear_backward(const at::Tensor& grad, const at::Tensor& x,
                                                               const at::Tensor& weight, bool x_wanted,
                                                               bool weight_wanted, bool bias_wanted);

}  // namespace modewise::ops
