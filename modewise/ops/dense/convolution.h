#pragma once
// Convolution over any number of modes with channels last, with bits that do not depend on the number of
// threads.

#include <ATen/core/Tensor.h>

#include <vector>

namespace modewise::ops {

/// x [B, N_1 … N_k, C], weight [C', C, K_1 … K_k], bias [C'] or undefined -> [B, M_1 … M_k, C'] as x, with
/// M_i = ⌊(N_i + 2·padding_i − dilation_i·(K_i − 1) − 1) / stride_i⌋ + 1; k is 1, 2 or 3. weight and bias may
/// be float32 while x is bfloat16: they are cast here, and their gradients are summed in float32 and stay so.
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       const std::vector<int64_t>& stride, const std::vector<int64_t>& padding,
                       const std::vector<int64_t>& dilation);

}  // namespace modewise::ops
