#pragma once
// What a forecasting run comes to: evaluations and data as tables, the page of a run in pictures, and what it
// attends to. The comparison of runs is in kind.h.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "modewise/data/forecasting/describe.h"
#include "modewise/tasks/explanation.h"
#include "modewise/tasks/forecasting/run.h"
#include "modewise/tasks/result_tables.h"

namespace modewise::tasks {

/// An evaluation (evaluate.h): errors of each horizon and in units, what the intervals hold; as details the
/// series and the steps.
std::vector<ResultTable> forecast_tables(const nlohmann::ordered_json& evaluation);
/// What stands above them in the terminal, and they.
std::string forecast_text(const nlohmann::ordered_json& evaluation, bool detail);

std::string description_text(const data::Description& description);

/// One run: forecasts against truth with bands, learning curves, errors by step and series, attention
/// factors, calibration, settings. Needs a finished run and its data.
void write_forecast_report(const ForecastRun& run, const ForecastData& data,
                           const std::filesystem::path& out);

/// What a run attends to, and which series and which part of the past move its forecasts.
/// Looks at windows of `data`'s split in evaluation mode. A place of a series mode is taken away by putting
/// its mean over the window in its place, a part of the past by the mean of each series over the window; the
/// effect is the mean absolute change of the scaled forecast. (Occlusion, and not a gradient: it says what
/// really happens when the values are not there, also where attention is saturated and gradients vanish.)
Explanation explain_forecast(const ForecastRun& run, const ForecastData& data, const ExplainOptions& options);

}  // namespace modewise::tasks
