#pragma once
// Reports of forecasting runs: tables of evaluations and data, the report page, and explanations. The
// comparison of runs is in spec.h.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "modewise/data/forecasting/describe.h"
#include "modewise/tasks/explanation.h"
#include "modewise/tasks/forecasting/run.h"
#include "modewise/tasks/result_tables.h"

namespace modewise::tasks {

/// Tables of an evaluation (evaluate.h): errors per horizon and in units, interval coverage; as details
/// errors per series and step.
std::vector<ResultTable> forecast_tables(const nlohmann::ordered_json& evaluation);
/// The tables as text with a heading, for the terminal.
std::string forecast_text(const nlohmann::ordered_json& evaluation, bool detail);

std::string description_text(const data::Description& description);

/// Writes the report of a finished run: forecasts with bands, learning curves, errors by step and series,
/// attention maps, calibration, settings.
void write_forecast_report(const ForecastRun& run, const ForecastData& data,
                           const std::filesystem::path& out);

/// Attention maps, and occlusion of series and of time segments of the past.
/// Uses windows of `data`'s split in evaluation mode. An occluded position of a series mode is replaced by
/// its mean over the window, a time segment by the mean of each series over the window; the effect is the
/// mean absolute change of the scaled forecast. (Occlusion instead of gradients: it measures the change
/// without the values, also where attention is saturated and gradients vanish.)
Explanation explain_forecast(const ForecastRun& run, const ForecastData& data, const ExplainOptions& options);

}  // namespace modewise::tasks
