#pragma once
// Argument checks of masked_moments and update_moments, and the gradient.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

void check_masked_moments_args(const at::Tensor& rows, const at::Tensor& mask);
void check_masked_moments_backward_args(const at::Tensor& grad_mean, const at::Tensor& grad_var,
                                        const at::Tensor& rows, const at::Tensor& mask,
                                        const at::Tensor& mean);
void check_update_moments_args(const at::Tensor& running_mean, const at::Tensor& running_var,
                               const at::Tensor& mean, const at::Tensor& var, const at::Tensor& count);

/// Gradient of rows from the gradients of mean and variance [C].
at::Tensor masked_moments_backward(const at::Tensor& grad_mean, const at::Tensor& grad_var,
                                   const at::Tensor& rows, const at::Tensor& mask, const at::Tensor& mean);

}  // namespace modewise::ops
