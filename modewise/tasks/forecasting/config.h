#pragma once
// Config of forecasting runs: data, model, forecast, calibration, training and output.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/windows.h"
#include "modewise/metrics/conformal.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/tasks/run/idle_settings.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct ForecastOptions {
  static constexpr int64_t kUsualRows = 96;  // lookback and horizon of most published tables

  int64_t lookback = 0;  // 0: from the data (choose_defaults.h)
  int64_t horizon = 0;
  std::vector<int64_t> horizons;  // several: one model for all, trained on the mean loss
  std::string loss = "mae";       // mse | mae | huber | quantile
  double huber_delta = 1;
  std::vector<double> quantiles = {0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975};
  std::string select = "auto";  // auto | mse | mae | pinball: metric for the selection of the best weights
  int64_t train_stride = 1;     // uses every n-th training window
  double train_fraction = 1;    // uses the first fraction of the training windows
  int64_t validation_stride = 1;
  int64_t evaluation_batch = 64;
  int64_t test_drop_last = 0;  // evaluates only whole batches of this size, as in older tables
  void fields(Fields& f);

  /// Horizon H of the model: the longest of `horizons`, or `horizon`.
  int64_t longest() const;
  /// Reported horizons, ascending.
  std::vector<int64_t> reported() const;
  bool probabilistic() const { return loss == "quantile"; }
};

struct ForecastOutput {
  int64_t predictions = 64;  // test windows stored in predictions.npz
  bool report = true;        // report.html after training
  void fields(Fields& f);
};

struct ForecastConfig {
  ForecastConfig() { train.epochs = train.patience = train::TrainConfig::kOpenEpochs; }

  std::string init;  // initial weights; "": none
  data::ForecastDataConfig data;
  models::ForecasterConfig model;
  ForecastOptions forecast;
  metrics::CalibrationConfig calibration;
  train::TrainConfig train;
  ForecastOutput output;
  void fields(Fields& f);

  data::WindowShape window() const { return {forecast.lookback, forecast.longest()}; }
  models::ForecastShape model_shape(const data::Series& series) const;
  /// Settings without effect unless another one has some value.
  static std::span<const DependentSetting> dependents();
  /// Checks rules between groups; messages begin with `source`.
  void validate(const std::string& source) const;
};

/// Model name for tables: "hot", "hot sum", "hot linear", "dlinear" …
std::string model_title(const ForecastConfig& config);
/// Data name: the file name without extension, or the simulation.
std::string data_title(const ForecastConfig& config);

}  // namespace modewise::tasks
