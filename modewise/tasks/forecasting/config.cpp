#include "modewise/tasks/forecasting/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/data/forecasting/future_covariates.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {
namespace {

/// Config error for covariates of a model that takes none; an ensemble takes them if its members do.
void require_covariate_model(const ForecastConfig& config, const std::string& source) {
  std::vector<std::string> given;
  if (!config.data.known.empty()) given.emplace_back("data.future_covariates");
  if (!config.data.calendar.empty()) given.emplace_back("data.calendar");
  if (!config.data.statics.empty()) given.emplace_back("data.static_covariates");
  const std::string& model = config.model.name;
  std::vector<std::string> takers;
  bool takes = given.empty() || model == "ensemble" || model == "auto";
  for (const models::ForecasterRow& row : models::forecasters()) {
    if (!models::uses_future_covariates(row)) continue;
    takers.push_back(row.name);
    takes = takes || row.name == model;
  }
  require(takes, ErrorKind::config, "{}: {} need{} a model with covariates ({}); '{}' has none", source,
          fmt::join(given, " and "), given.size() == 1 ? "s" : "", fmt::join(takers, ", "), model);
}

}  // namespace

void ForecastOptions::fields(Fields& f) {
  f.add("lookback", lookback, "lookback in rows; 0: from the data", {.min = 0, .max = 1e6});
  f.add("horizon", horizon, "forecast horizon in rows; 0: from the data's time step", {.min = 0, .max = 1e6});
  f.add("horizons", horizons, "several horizons: one model for all, trained on the mean of their losses",
        {.min = 1, .max = 1e6});
  f.add("loss", loss, "training loss: mse, mae, huber, or quantile (quantile forecasts)",
        {.one_of = {"mse", "mae", "huber", "quantile"}});
  f.add("huber_delta", huber_delta, "threshold of the Huber loss, in scaled units", {.min = 1e-6});
  f.add("quantiles", quantiles,
        "levels for loss = \"quantile\": ascending, symmetric about 0.5, including 0.5",
        {.min = 1e-4, .max = 1 - 1e-4});
  f.add("select", select, "validation metric for the selection of the best weights; auto: that of the loss",
        {.one_of = {"auto", "mse", "mae", "pinball"}});
  f.add("train_stride", train_stride, "stride of training windows", {.min = 1});
  f.add("train_fraction", train_fraction, "fraction of training windows to use, the first ones",
        {.min = 1e-6, .max = 1});
  f.add("validation_stride", validation_stride, "stride of validation windows", {.min = 1});
  f.add("evaluation_batch", evaluation_batch, "batch size of evaluation, in windows",
        {.min = 1, .max = 65536});
  f.add("test_drop_last", test_drop_last,
        "evaluate only whole batches of this many test windows, as in tables with drop_last (often 32); 0: "
        "all",
        {.min = 0});
}

int64_t ForecastOptions::longest() const {
  return horizons.empty() ? horizon : *std::max_element(horizons.begin(), horizons.end());
}

std::vector<int64_t> ForecastOptions::reported() const {
  std::vector<int64_t> result = horizons.empty() ? std::vector<int64_t>{horizon} : horizons;
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

void ForecastOutput::fields(Fields& f) {
  f.add("predictions", predictions, "test windows stored in predictions.npz", {.min = 0});
  f.add("report", report, "write report.html after training");
}

void ForecastConfig::fields(Fields& f) {
  f.add("init", init, "initial weights: a .safetensors file or a run with the same tensors and sizes",
        {.is_path = always});
  f.group("data", data);
  f.group("model", model);
  f.group("forecast", forecast);
  f.group("calibration", calibration);
  f.group("train", train);
  f.group("output", output);
  train.output_fields(f);
}

std::span<const DependentSetting> ForecastConfig::dependents() {
  static const DependentSetting rows[] = {
      {"data.resample_by", "data.resample"},
      {"data.simulate_rows", "data.simulate"},
      {"data.simulate_seed", "data.simulate"},
      {"data.lorenz96", "data.simulate", {"lorenz96"}},
      {"data.logistic", "data.simulate", {"logistic"}},
      {"data.seasonal", "data.simulate", {"seasonal"}},
      {"data.split_dates", "data.split", {"dates"}},
      {"data.split_ratios", "data.split", {"auto", "ratio"}},
      {"data.calendar_encoding", "data.calendar"},
      {"model.future_covariates.width", "data.future_covariates", {}, "data.calendar"},
      {"model.window.cycle_gain", "model.window.cycle"},
      {"model.window.cycle_start", "model.window.cycle"},
      {"forecast.huber_delta", "forecast.loss", {"huber"}},
      {"forecast.quantiles", "forecast.loss", {"quantile"}},
  };
  return rows;
}

models::ForecastShape ForecastConfig::model_shape(const data::Series& series) const {
  models::ForecastShape shape;
  shape.series = series.shape();
  for (const data::SeriesMode& mode : series.modes) shape.ordered.push_back(mode.ordered);
  shape.lookback = forecast.lookback;
  shape.horizon = forecast.longest();
  shape.quantiles = forecast.probabilistic() ? std::ssize(forecast.quantiles) : 0;
  shape.missing = series.observed.defined();
  if (forecast.probabilistic()) shape.levels = forecast.quantiles;
  const data::FutureCovariateShape known = data::known_shape(data, series);
  shape.known = known.features;
  shape.known_modes = known.modes;
  return shape;
}

void ForecastConfig::validate(const std::string& source) const {
  const std::vector<double>& levels = forecast.quantiles;
  bool symmetric = levels.size() % 2 == 1;
  for (size_t i = 0; i < levels.size(); ++i)
    symmetric = symmetric && std::abs(levels[i] + levels[levels.size() - 1 - i] - 1) < 1e-9 &&
                (i == 0 || levels[i - 1] < levels[i]);
  require(symmetric, ErrorKind::config,
          "{}: forecast.quantiles must be ascending, symmetric about 0.5 and contain 0.5, got [{}]", source,
          fmt::join(levels, ", "));
  require(std::is_sorted(calibration.intervals.begin(), calibration.intervals.end(), std::less_equal<>()) &&
              !calibration.intervals.empty(),
          ErrorKind::config, "{}: calibration.intervals must be ascending and at least one, got [{}]", source,
          fmt::join(calibration.intervals, ", "));
  require(forecast.select != "pinball" || forecast.probabilistic(), ErrorKind::config,
          "{}: forecast.select = \"pinball\" needs forecast.loss = \"quantile\", got \"{}\"", source,
          forecast.loss);
  const bool by_ratio = data.split == "auto" || data.split == "ratio";
  require(!by_ratio || !train.test || data.split_ratios.size() != 3 || data.split_ratios[2] > 0,
          ErrorKind::config, "{}: data.split_ratios has no test rows: use --no-test (train.test = false)",
          source);
  require(!train.test || data.test_windows != 0, ErrorKind::config,
          "{}: data.test_windows = 0 leaves no test windows: use --no-test (train.test = false)", source);
  require_covariate_model(*this, source);
  train.validate();
}

std::string model_title(const ForecastConfig& config) {
  return config.model.name == "hot" ? title_of(config.model, config.model.attention) : config.model.name;
}

std::string data_title(const ForecastConfig& config) {
  const data::ForecastDataConfig& data = config.data;
  return data.simulate.empty() ? data_name(data.path) : data.simulate;
}

}  // namespace modewise::tasks
