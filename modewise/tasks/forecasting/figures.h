#pragma once
// What a forecaster does at an evaluation, as pictures for TensorBoard.

#include <vector>

#include "modewise/models/forecasting/forecaster.h"
#include "modewise/tasks/forecasting/data.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {

/// The forecast of the middle validation window as forecast/SERIES, of the first four series: lookback and
/// truth dark, the forecast in colour, of quantile models the outermost quantiles as a band.
std::vector<train::Image> forecast_figures(models::Forecaster& model, const ForecastData& data);

}  // namespace modewise::tasks
