#pragma once
// Texts and explanations of forecasting runs. The report page is in run.h, the comparison of runs in spec.h.

#include <string>

#include "modewise/data/forecasting/describe.h"
#include "modewise/tasks/run/explanation.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

std::string description_text(const data::Description& description);

/// Attention maps, and occlusion of series and of time segments of the past.
/// Uses loaded windows of a ForecastRun in evaluation mode. An occluded position of a series mode is replaced
/// by its mean over the window, a time segment by the mean of each series over the window; the effect is the
/// mean absolute change of the scaled forecast. (Occlusion instead of gradients: it measures the change
/// without the values, also where attention is saturated and gradients vanish.)
Explanation explain_forecast(Run& run, const ExplainOptions& options);

}  // namespace modewise::tasks
