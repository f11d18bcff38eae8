#pragma once
// report.html: what a run learned and how good it is, in pictures.

#include <filesystem>

#include "modewise/tasks/forecast/run.h"

namespace modewise::tasks {

/// One run: forecasts against truth with bands, learning curves, errors by step and series, attention
/// factors, calibration, settings. Needs a finished run and its data.
void write_forecast_report(const ForecastRun& run, const ForecastData& data,
                           const std::filesystem::path& out);

}  // namespace modewise::tasks
