#pragma once
// Forecasts of an evaluation as images for TensorBoard.

#include <vector>

#include "modewise/models/forecasting/forecaster.h"
#include "modewise/tasks/forecasting/data.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {

/// Forecasts of the middle validation window for the first four series, as forecast/SERIES: lookback and
/// truth dark, forecast in colour, outermost quantiles of quantile models as a band.
std::vector<train::Image> forecast_figures(models::Forecaster& model, const ForecastData& data);

}  // namespace modewise::tasks
