#pragma once
// RMS norm (Zhang and Sennrich 2019), the norm of Llama and Mistral: layer norm without mean and bias, with
// float32 statistics and gradients that are deterministic for any number of threads.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// x / sqrt(mean(x²) + eps) · weight over the last dimension D. weight [D] may be undefined; it may be
/// float32 while x is bfloat16. Result in the dtype of x.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight = {}, double eps = 1e-5);

}  // namespace modewise::ops
