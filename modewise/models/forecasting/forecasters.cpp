// Registry of forecasters, with their checks of config and data shape.

#include <fmt/ranges.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"

namespace modewise::models {

// Each is defined in the file of its model.
ForecasterRow hot_row();
ForecasterRow transformer_row();
ForecasterRow spatial_row();
ForecasterRow temporal_row();
ForecasterRow patchtst_row();
ForecasterRow itransformer_row();
ForecasterRow tide_row();
ForecasterRow crossformer_row();
ForecasterRow timesnet_row();
ForecasterRow autoformer_row();
ForecasterRow fedformer_row();
ForecasterRow nonstationary_row();
ForecasterRow scinet_row();
ForecasterRow dlinear_row();
ForecasterRow nlinear_row();
ForecasterRow rlinear_row();
ForecasterRow ridge_row();
ForecasterRow seasonal_row();
ForecasterRow seasonal_drift_row();
ForecasterRow theta_row();
ForecasterRow optimised_theta_row();
ForecasterRow dynamic_theta_row();
ForecasterRow ets_row();
ForecasterRow repeat_row();
ForecasterRow ensemble_row();

namespace {

void check_sizes(const ForecastShape& shape, const std::string& source) {
  require(!shape.series.empty(), ErrorKind::config, "{}: a forecaster needs at least one series mode",
          source);
  for (int64_t size : shape.series)
    require(size >= 1, ErrorKind::config, "{}: a series mode must have at least size 1, got {}", source,
            size);
  require(shape.ordered.empty() || shape.ordered.size() == shape.series.size(), ErrorKind::config,
          "{}: {} series modes but {} entries in `ordered`", source, shape.series.size(),
          shape.ordered.size());
  require(shape.lookback >= 1, ErrorKind::config, "{}: lookback must be at least 1, got {}", source,
          shape.lookback);
  require(shape.horizon >= 1, ErrorKind::config, "{}: horizon must be at least 1, got {}", source,
          shape.horizon);
  require(shape.quantiles >= 0, ErrorKind::config, "{}: the number of quantiles must be at least 0, got {}",
          source, shape.quantiles);
}

/// Only some models support future covariates; an ensemble does if its members do.
void check_known(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  if (shape.known == 0 || config.name == "ensemble") return;
  std::vector<std::string> names;
  for (const ForecasterRow& row : forecasters())
    if (uses_future_covariates(row)) names.push_back(row.name);
  require(
      std::find(names.begin(), names.end(), config.name) != names.end(), ErrorKind::config,
      "{}: data.future_covariates and data.calendar need a model with future covariates ({}); '{}' has none",
      source, fmt::join(names, ", "), config.name);
}

void check_options(const ForecasterConfig& config, const std::string& source) {
  ForecasterConfig checked = config;
  // Earlier configs of models without this option have its former default.
  if (checked.window.centre == "mean" && !row_of(forecasters(), config.name).has_option("window.centre"))
    checked.window.centre = "auto";
  check_options(forecasters(), checked, source);
}

void check_shape(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  check_sizes(shape, source);
  check_known(config, shape, source);
  if (const auto check = row_of(forecasters(), config.name).check) check(config, shape, source);
}

}  // namespace

const std::vector<ForecasterRow>& forecasters() {
  static const std::vector<ForecasterRow> rows = {
      // clang-format off
      hot_row(),
      transformer_row(),
      spatial_row(),
      temporal_row(),
      patchtst_row(),
      itransformer_row(),
      tide_row(),
      crossformer_row(),
      timesnet_row(),
      autoformer_row(),
      fedformer_row(),
      nonstationary_row(),
      scinet_row(),
      dlinear_row(),
      nlinear_row(),
      rlinear_row(),
      ridge_row(),
      seasonal_row(),
      seasonal_drift_row(),
      theta_row(),
      optimised_theta_row(),
      dynamic_theta_row(),
      ets_row(),
      repeat_row(),
      ensemble_row(),
      // clang-format on
  };
  return rows;
}

bool uses_future_covariates(const ForecasterRow& row) {
  return row.future_covariates || row.has_option("future_covariates.width");
}

void check_patches(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  require(config.patch.length <= shape.lookback, ErrorKind::config,
          "{}: patch.length = {} is longer than the lookback of {} rows", source, config.patch.length,
          shape.lookback);
  require(config.patch.stride <= config.patch.length, ErrorKind::config,
          "{}: patch.stride = {} is larger than patch.length = {}: rows between patches would be skipped",
          source, config.patch.stride, config.patch.length);
}

void check_heads(const ForecasterConfig& config, const ForecastShape& /*shape*/, const std::string& source) {
  require(config.width % config.heads == 0, ErrorKind::config,
          "{}: width = {} must be a multiple of heads = {}", source, config.width, config.heads);
}

void validate(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  check_options(config, source);
  check_shape(config, shape, source);
}

std::shared_ptr<Forecaster> make_forecaster(const ForecasterConfig& config, const ForecastShape& shape,
                                            uint64_t seed) {
  check_options(config, "model");
  return make_reshaped(config, shape, seed);
}

std::shared_ptr<Forecaster> make_reshaped(const ForecasterConfig& config, const ForecastShape& shape,
                                          uint64_t seed) {
  check_shape(config, shape, "model");
  nn::Initializer init(seed);
  return row_of(forecasters(), config.name).make(config, shape, init);
}

}  // namespace modewise::models
