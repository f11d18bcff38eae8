#pragma once
// The operators behind rms_norm, which return their statistic too, and their checks.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace modewise::ops {

void check_rms_norm_args(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps);
void check_rms_norm_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& rstd,
                                  const std::optional<at::Tensor>& weight);

/// (normed, 1/root of the mean square), the latter one a row in the accumulate type.
std::tuple<at::Tensor, at::Tensor> rms_norm_stats(const at::Tensor& x,
                                                  const std::optional<at::Tensor>& weight, double eps);
/// Gradients in x and weight, the latter [D] in the accumulate type.
std::tuple<at::Tensor, at::Tensor> rms_norm_backward(const at::Tensor& grad, const at::Tensor& x,
                                                     const at::Tensor& rstd,
                                                     const std::optional<at::Tensor>& weight);

}  // namespace modewise::ops
