#pragma once
// Argument checks of swiglu, and its gradient.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

void check_swiglu_args(const at::Tensor& gate_and_up);
void check_swiglu_backward_args(const at::Tensor& grad, const at::Tensor& gate_and_up);

/// Gradient of gate_and_up [..., 2M] from grad [..., M].
at::Tensor swiglu_backward(const at::Tensor& grad, const at::Tensor& gate_and_up);

}  // namespace modewise::ops
