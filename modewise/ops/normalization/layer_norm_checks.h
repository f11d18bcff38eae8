#pragma once
// Operators of layer_norm and dropout_add_norm that also return the statistics, and their argument checks.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace modewise::ops {

void check_layer_norm_args(const at::Tensor& x, const std::optional<at::Tensor>& weight,
                           const std::optional<at::Tensor>& bias, double eps);
void check_layer_norm_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean,
                                    const at::Tensor& rstd, const std::optional<at::Tensor>& weight,
                                    const std::optional<at::Tensor>& grad_sum);
void check_dropout_add_norm_args(const at::Tensor& residual, const at::Tensor& x, double p,
                                 const std::optional<at::Tensor>& weight,
                                 const std::optional<at::Tensor>& bias, double eps);

/// (normed, mean, 1/standard deviation), the last two one value per row in the accumulate type.
std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_stats(const at::Tensor& x,
                                                                const std::optional<at::Tensor>& weight,
                                                                const std::optional<at::Tensor>& bias,
                                                                double eps);
/// Gradients of x (plus grad_sum, if given), weight and bias; the last two [D] in the accumulate type.
std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
    const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& grad_sum);
/// (residual + dropout(x), its norm, mean, 1/standard deviation).
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> dropout_add_norm_stats(
    const at::Tensor& residual, const at::Tensor& x, double p, int64_t seed, int64_t step, int64_t site,
    const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias, double eps);

}  // namespace modewise::ops
