#pragma once
// Forecasting run: config, samples and forecaster.
//
// Besides the trainer's files its folder has data.json (modes, scaler, time axis), calibration.npz (margins
// of the intervals) and predictions.npz (some test windows in units); metrics.json has "calibration" and
// "test". If training leaves the test split unread, the validation windows are used instead.

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "modewise/models/forecasting/ensemble.h"
#include "modewise/tasks/forecasting/config.h"
#include "modewise/tasks/forecasting/data.h"
#include "modewise/tasks/forecasting/evaluate.h"
#include "modewise/tasks/forecasting/members.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

class ForecastRun final : public Run {
 public:
  explicit ForecastRun(ForecastConfig settings) : config(std::move(settings)) {}

  RunSettings settings() override { return settings_of(config); }
  void load(const DataRequest& request) override;
  std::string hash() const override { return data.hash; }
  nlohmann::ordered_json describe() const override { return to_json(summary); }
  void restore(const nlohmann::ordered_json& json, const std::string& file) override;
  void announce() override;

  void make_model(Purpose purpose) override;
  torch::nn::Module& module() const override { return *model; }
  nn::ModelCost cost() const override;
  std::unique_ptr<train::ModuleTask> task() override;

  nlohmann::ordered_json evaluate(const std::string& split, bool keep, train::Workers& workers) override;
  void finish(nlohmann::ordered_json& metrics) override;
  std::vector<ResultTable> tables(const nlohmann::ordered_json& metrics) const override;
  /// Forecasts with bands, learning curves, errors by step and series, attention maps, calibration.
  report::HtmlPage page(const nlohmann::ordered_json& metrics) override;

  /// Windows of a split; all windows if the data are not split. Data error if there are none.
  const data::WindowSet& windows(const std::string& split) const {
    return windows_of(data.windows, whole_ ? "all" : split);
  }
  CalibratedForecaster forecaster() const { return {model.get(), &config, calibration}; }

  ForecastConfig config;
  ForecastData data;    // the loaded samples; of other data, or the split "all", its test split is all rows
  DataSummary summary;  // of the training samples
  std::shared_ptr<models::Forecaster> model;
  std::optional<metrics::Calibration> calibration;
  std::vector<EarlierSplit> earlier_splits;           // of a new ensemble over several splits
  std::optional<models::SplitWeights> split_weights;  // its weights

 private:
  models::ForecastShape shape() const { return config.model_shape(shape_of(summary)); }
  void load_rows(const DataRequest& request);

  bool whole_ = false;  // the data are not split
};

/// Data config for `run`: that of its training data, with `path` instead of its file if not empty.
data::ForecastDataConfig run_series_config(const ForecastRun& run, const std::string& path);
/// Rows for a run, compared with the rows of its training.
struct RunSeries {
  enum class Rows { same, appended, others };  // appended: those of the training, and more after them
  data::Series series;
  std::string hash;  // as in ForecastData
  Rows rows = Rows::same;
};
/// Loads the run's training data, or `path` if not empty, with the checks of require_fits.
RunSeries load_run_series(const ForecastRun& run, const std::string& path);
/// Logs a warning if the run's own rows, of training and validation, are others than in its training.
void warn_of_changes(const ForecastRun& run, const RunSeries& own);
/// Logs a warning of series without a value in the last rows, as many as a forecast reads.
void warn_of_empty_end(const ForecastRun& run, const data::Series& series);

/// Row offset of `series` for the phase of periodic profiles and of seasonal margins: distance from the first
/// training row, made non-negative by whole periods. Data error if there is a period and only the run has
/// dates.
int64_t phase_offset(const ForecastRun& run, const data::Series& series);

}  // namespace modewise::tasks
