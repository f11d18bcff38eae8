#pragma once
// Linear layer (affine map of the last dimension), deterministic for any number of threads.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// x [..., K], weight [M, K], bias [M] or undefined -> x weightᵀ + bias [..., M] in the dtype of x. weight
/// and bias may be float32 while x is bfloat16; their gradients are then float32.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

}  // namespace modewise::ops
