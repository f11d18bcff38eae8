#pragma once
// Argument checks of linear, and its gradients.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace modewise::ops {

void check_linear_args(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias);
void check_linear_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight);

/// Gradients of linear in x [..., K] (as x), weight [M, K] and bias [M] (as weight) from grad [..., M]. Those
/// not asked for are empty.
std::tuple<at::Tensor, at::Tensor, at::Tensor> linear_backward(const at::Tensor& grad, const at::Tensor& x,
                                                               const at::Tensor& weight, bool x_wanted,
                                                               bool weight_wanted, bool bias_wanted);

}  // namespace modewise::ops
