#pragma once
// Everything a forecasting run is told: data, model, what to forecast and how to judge it, training, output.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/windows.h"
#include "modewise/metrics/conformal.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct ForecastOptions {
  static constexpr int64_t kUsualRows = 96;  // of lookback and horizon in most published tables

  int64_t lookback = 0;  // 0: from the data (choose_defaults.h)
  int64_t horizon = 0;
  std::vector<int64_t> horizons;  // several: one model for all, trained on the mean of their losses
  std::string loss = "mae";       // mse | mae | huber | quantile
  double huber_delta = 1;
  std::vector<double> quantiles = {0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975};
  std::string select = "auto";  // auto | mse | mae | pinball: what the best weights are chosen by
  int64_t train_stride = 1;     // every n-th training window
  double train_fraction = 1;    // the first part of the training windows
  int64_t validation_stride = 1;
  int64_t evaluation_batch = 64;
  int64_t test_drop_last = 0;  // judge whole batches of this many test windows alone, as older tables do
  void fields(Fields& f);

  /// H of the model: the longest of `horizons`, or `horizon`.
  int64_t longest() const;
  /// The horizons whose errors are reported, ascending.
  std::vector<int64_t> reported() const;
  bool probabilistic() const { return loss == "quantile"; }
};

struct ForecastOutput {
  int64_t predictions = 64;  // test windows kept in predictions.npz
  bool report = true;        // report.html after training
  void fields(Fields& f);
};

struct ForecastConfig {
  ForecastConfig() { train.epochs = train::TrainConfig::kOpenEpochs; }

  std::string init;  // weights to start from; "": none
  data::ForecastDataConfig data;
  models::ForecasterConfig model;
  ForecastOptions forecast;
  metrics::CalibrationConfig calibration;
  train::TrainConfig train;
  ForecastOutput output;
  void fields(Fields& f);

  data::WindowShape window() const { return {forecast.lookback, forecast.longest()}; }
  models::ForecastShape model_shape(const data::Series& series) const;
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
};

/// A name for tables: "hot", "hot sum", "hot linear", "dlinear" …
std::string model_title(const ForecastConfig& config);
/// The name of its data: the file's without its ending, or the simulation's.
std::string data_title(const ForecastConfig& config);

}  // namespace modewise::tasks
