#pragma once
// The affine map of the last dimension, with bits that do not depend on the number of threads.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// x [..., K], weight [M, K], bias [M] or undefined -> x weightᵀ + bias [..., M] as x. weight and bias may be
/// float32 while x is bfloat16: they are cast here, and their gradients are summed in float32 and stay so.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

}  // namespace modewise::ops
