#pragma once
// Operators of rms_norm that also return the statistic, and their argument checks.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace modewise::ops {

void check_rms_norm_args(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps);
void check_rms_norm_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& rstd,
                                  const std::optional<at::Tensor>& weight);

/// (normed, 1/RMS), the latter one value per row in the accumulate type.
std::tuple<at::Tensor, at::Tensor> rms_norm_stats(const at::Tensor& x,
                                                  const std::optional<at::Tensor>& weight, double eps);
/// Gradients of x and weight, the latter [D] in the accumulate type.
std::tuple<at::Tensor, at::Tensor> rms_norm_backward(const at::Tensor& grad, const at::Tensor& x,
                                                     const at::Tensor& rstd,
                                                     const std::optional<at::Tensor>& weight);

}  // namespace modewise::ops
