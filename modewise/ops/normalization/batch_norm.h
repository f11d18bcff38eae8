#pragma once
// Batch normalisation in training mode (Ioffe and Szegedy 2015) in two passes over memory, deterministic for
// any number of threads.

#include <ATen/core/Tensor.h>

#include <tuple>

namespace modewise::ops {

/// x [..., C] with at least one row, weight and bias [C] -> (out, mean [C], var [C]): (x − mean) / sqrt(var +
/// eps) · weight + bias in the dtype of x, mean and biased variance over all rows. weight and bias may be
/// float32 while x is bfloat16; mean and var have the accumulate type (float32 for bfloat16) and are not
/// differentiable.
std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm(const at::Tensor& x, const at::Tensor& weight,
                                                          const at::Tensor& bias, double eps = 1e-5);

}  // namespace modewise::ops
