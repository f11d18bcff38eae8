#pragma once
// The losses a forecaster is trained on. Missing targets take no part; sums run over fixed axes in a fixed
// order, so a loss has the same bits for any number of threads.

#include <ATen/core/Tensor.h>

#include "modewise/tasks/forecast/config.h"

namespace modewise::tasks {

/// The mean loss over observed targets: `forecast` [B, N_1…N_j, H] (with quantiles [B, N_1…N_j, H, Q]),
/// `future` [B, N_1…N_j, H], `observed` of that shape (bool) or undefined. With several horizons the mean of
/// the losses on their prefixes. 0 when nothing is observed.
at::Tensor forecast_loss(const at::Tensor& forecast, const at::Tensor& future, const at::Tensor& observed,
                         const ForecastOptions& options);

/// The quantile (pinball) loss averaged over levels: `quantiles` [..., Q], `future` [...] -> [...].
at::Tensor pinball_loss(const at::Tensor& quantiles, const at::Tensor& future,
                        const std::vector<double>& levels);

}  // namespace modewise::tasks
