#pragma once
// report.html: what a run learned and how good it is, in pictures; or several runs side by side.

#include <filesystem>
#include <vector>

#include "modewise/tasks/forecast_compare.h"
#include "modewise/tasks/forecast_run.h"

namespace modewise::tasks {

/// One run: forecasts against truth with bands, learning curves, errors by step and series, attention
/// factors, calibration, settings. Needs a finished run and its data.
void write_run_report(const ForecastRun& run, const ForecastData& data, const std::filesystem::path& out);

/// Several finished runs: table, errors side by side and by step, learning curves, forecasts of the same
/// windows.
void write_comparison_report(const std::vector<FinishedRun>& runs, const std::filesystem::path& out);

}  // namespace modewise::tasks
