#pragma once
// Layer normalisation with float32 statistics, alone or fused with the preceding residual addition. Gradients
// are deterministic for any number of threads (the weight gradient of at::layer_norm is not).

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

/// (x − mean) / sqrt(variance + eps) · weight + bias over the last dimension D. weight and bias [D] may be
/// undefined; they may be float32 while x is bfloat16. Result in the dtype of x.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight = {}, const at::Tensor& bias = {},
                      double eps = 1e-5);

struct ResidualNorm {
  at::Tensor sum;     // residual + dropout(x)
  at::Tensor normed;  // layer_norm(sum)
};

/// Fused residual step: sum = residual + dropout(x, p), normed = layer_norm(sum), in one pass over memory.
ResidualNorm dropout_add_norm(const at::Tensor& residual, const at::Tensor& x, double p, DropoutKey key,
                              const at::Tensor& weight, const at::Tensor& bias, double eps = 1e-5);

}  // namespace modewise::ops
