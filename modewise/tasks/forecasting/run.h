#pragma once
// Forecasting run: training to a run folder, and opening of a run folder.
//
// Besides the trainer's files it has data.json (modes, scaler, time axis), calibration.npz (margins of the
// intervals) and predictions.npz (some test windows in units); metrics.json has "calibration" and "test". If
// training leaves the test split unread, the validation windows are used instead.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "modewise/tasks/forecasting/evaluate.h"
#include "modewise/tasks/open_run.h"
#include "modewise/tasks/trained_run.h"

namespace modewise::tasks {

/// Trains, calibrates on the validation rows, evaluates the test rows, and writes the results. With `resume`
/// the run continues (a finished one is evaluated again). Throws train::EvaluationInterrupted if a signal
/// arrives after training.
TrainedRun train_forecast(const ForecastConfig& config, const ForecastData& data, train::RunFolder& run,
                          bool resume, bool accept_changes = false);

/// A run with the best weights of its forecaster.
struct ForecastRun : OpenRun<ForecastConfig, models::Forecaster> {
  DataSummary data = {};
  std::optional<metrics::Calibration> calibration = {};

  CalibratedForecaster forecaster() const { return {model.get(), &config, calibration}; }
};

/// Evaluates the unread test windows of a run and writes the same results as training: "test" of metrics.json
/// and predictions.npz. `data` is the run's complete data. Returns the evaluation. Several train::workers()
/// distribute the forecasts; rank 0 writes, other ranks return null.
nlohmann::ordered_json evaluate_left_out_test(const ForecastRun& run, const ForecastData& data);

/// Errors as open_run.
ForecastRun open_forecast_run(const std::filesystem::path& path);

/// Data config for `run`: that of its training data, with `path` instead of its file if not empty.
data::ForecastDataConfig run_series_config(const ForecastRun& run, const std::string& path);
/// Loads the run's training data, or `path` if not empty, with the checks of require_fits.
data::Series load_run_series(const ForecastRun& run, const std::string& path);
/// load_run_series as windows, with the run's scaler and split rule.
ForecastData load_run_data(const ForecastRun& run, const std::string& path);
/// load_run_data without a split: windows.test covers all rows.
ForecastData load_run_rows(const ForecastRun& run, const std::string& path);

/// Row offset of `series` for the phase of periodic profiles: distance from the first training row, made
/// non-negative by whole periods.
int64_t phase_offset(const ForecastRun& run, const data::Series& series);

}  // namespace modewise::tasks
