#pragma once
// A forecasting run from its config to its folder, and back from its folder to a forecaster.
//
// Besides the trainer's files a run keeps data.json (modes, scaler, time axis), calibration.npz (margins of
// the intervals) and predictions.npz (some test windows in units); metrics.json gains "calibration" and
// "test". Where training leaves the test part unread, the validation windows take its place.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "modewise/tasks/forecasting/evaluate.h"
#include "modewise/tasks/open_run.h"
#include "modewise/tasks/trained_run.h"

namespace modewise::tasks {

/// Trains, calibrates on the validation rows, evaluates on the test rows, and writes all of it. With `resume`
/// the run goes on where it was (a finished one is evaluated anew). Throws train::EvaluationInterrupted when
/// a signal came after the training.
TrainedRun train_forecast(const ForecastConfig& config, const ForecastData& data, train::RunFolder& run,
                          bool resume, bool accept_changes = false);

/// A run's forecaster with its best weights.
struct ForecastRun : OpenRun<ForecastConfig, models::Forecaster> {
  DataSummary data = {};
  std::optional<metrics::Calibration> calibration = {};

  CalibratedForecaster forecaster() const { return {model.get(), &config, calibration}; }
};

/// Judges a run on the test windows that its training left unread, and writes what training would have:
/// metrics.json's "test" and predictions.npz. `data` is the run's own, whole. Returns the evaluation. Several
/// train::workers() forecast in shares; the lead writes, the others return null.
nlohmann::ordered_json evaluate_left_out_test(const ForecastRun& run, const ForecastData& data);

/// Errors as open_run.
ForecastRun open_forecast_run(const std::filesystem::path& path);

/// How the series that `run` is asked about is read: the file it was trained on, or `path` when that is not
/// empty.
data::ForecastDataConfig run_series_config(const ForecastRun& run, const std::string& path);
/// The series that `run` is asked about: the file it was trained on, or `path` when that is not empty, with
/// the checks of require_fits.
data::Series load_run_series(const ForecastRun& run, const std::string& path);
/// The same as windows, scaled by the run's scaler, split by the run's rule.
ForecastData load_run_data(const ForecastRun& run, const std::string& path);
/// The same without a split: windows.test are those of all rows.
ForecastData load_run_rows(const ForecastRun& run, const std::string& path);

/// What is added to the rows of `series` so that a periodic profile keeps its phase: how far its first row
/// lies from that of the training data, made non-negative by whole periods.
int64_t phase_offset(const ForecastRun& run, const data::Series& series);

}  // namespace modewise::tasks
