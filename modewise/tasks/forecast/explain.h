#pragma once
// What a forecasting run attends to, and which series and which part of the past move its forecasts.

#include "modewise/tasks/explanation.h"
#include "modewise/tasks/forecast/run.h"

namespace modewise::tasks {

/// Looks at windows of `data`'s split in evaluation mode. A place of a series mode is taken away by putting
/// its mean over the window in its place, a part of the past by the mean of each series over the window; the
/// effect is the mean absolute change of the scaled forecast. (Occlusion, and not a gradient: it says what
/// really happens when the values are not there, also where attention is saturated and gradients vanish.)
Explanation explain_forecast(const ForecastRun& run, const ForecastData& data, const ExplainOptions& options);

}  // namespace modewise::tasks
