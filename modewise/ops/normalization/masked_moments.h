#pragma once
// Masked mean and variance over rows, and running averages of them: batch normalisation of padded samples.

#include <ATen/core/Tensor.h>

#include <tuple>

namespace modewise::ops {

/// rows [n, C], mask bool [n] (true: valid) -> (mean [C], biased variance [C], float64 scalar: number of
/// valid rows). Without any valid row, all rows are used. Mean and variance are computed in float64, rounded
/// once, and differentiable in rows.
std::tuple<at::Tensor, at::Tensor, at::Tensor> masked_moments(const at::Tensor& rows, const at::Tensor& mask);

/// In place: running_mean ← (1 − μ) running_mean + μ mean; running_var likewise with the unbiased variance,
/// var · count / (count − 1); in float64, rounded once. Unchanged if count < 2: one row has no variance. All
/// [C] of one dtype, count a float64 scalar.
void update_moments(const at::Tensor& running_mean, const at::Tensor& running_var, const at::Tensor& mean,
                    const at::Tensor& var, const at::Tensor& count, double momentum);

}  // namespace modewise::ops
