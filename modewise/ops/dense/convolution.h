#pragma once
// Convolution over one to three modes with channels last (NDHWC), deterministic for any number of threads.

#include <ATen/core/Tensor.h>

#include <vector>

namespace modewise::ops {

/// x [B, N_1 … N_k, C], weight [C', C, K_1 … K_k], bias [C'] or undefined -> [B, M_1 … M_k, C'] in the dtype
/// of x, M_i = ⌊(N_i + 2·padding_i − dilation_i·(K_i − 1) − 1) / stride_i⌋ + 1; k is 1, 2 or 3. weight and
/// bias may be float32 while x is bfloat16; their gradients are then float32.
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       const std::vector<int64_t>& stride, const std::vector<int64_t>& padding,
                       const std::vector<int64_t>& dilation);

}  // namespace modewise::ops
