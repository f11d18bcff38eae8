#pragma once
// Argument checks of batch_norm, and its gradients.

#include <ATen/core/Tensor.h>

#include <tuple>

namespace modewise::ops {

void check_batch_norm_args(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps);
void check_batch_norm_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean,
                                    const at::Tensor& var, const at::Tensor& weight, double eps);

/// Gradients of x, weight and bias; the last two [C] in the dtype of mean and var, the results of batch_norm.
std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_backward(const at::Tensor& grad,
                                                                   const at::Tensor& x,
                                                                   const at::Tensor& mean,
                                                                   const at::Tensor& var,
                                                                   const at::Tensor& weight, double eps);

}  // namespace modewise::ops
