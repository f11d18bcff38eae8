#pragma once
// Base class of trained forecasters: window normalization, a core network with raw outputs, and
// denormalization to a point or quantile forecast.

#include <memory>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/nn/embedding/future_covariate_effect.h"
#include "modewise/nn/embedding/window_normalization.h"
#include "modewise/nn/initializer.h"

namespace modewise::models {

class LearnedForecaster : public Forecaster {
 public:
  LearnedForecaster(const ForecastShape& shape, const WindowConfig& window);

  at::Tensor forward(const ForecastInput& input) override;
  int64_t cycle_to_start() const override { return cycle_to_start_; }
  void start_cycle(const at::Tensor& profile) override;

 protected:
  /// Core network: normalized values [B, N_1 … N_j, L], 0 where not observed
  /// -> [B, N_1 … N_j, outputs()]
  virtual at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) = 0;
  /// Adds future covariates as an effect subtracted from the past and added to the forecast
  /// (nn/embedding/future_covariate_effect.h), for cores that do not read them.
  void add_future_covariate_effect(nn::Initializer& init, const FutureCovariateConfig& config);
  /// H, or H · Q with the quantiles of a step adjacent.
  int64_t outputs() const;
  nn::NormalizedWindow normalized(const ForecastInput& input) const;
  /// The future covariates [B, N_1…N_i, K, L + H]; undefined if K is 0.
  at::Tensor known_of(const ForecastInput& input) const;

 private:
  /// Undefined without future covariates.
  at::Tensor future_covariate_effect(const ForecastInput& input) const;
  nn::NormalizedWindow normalized(const ForecastInput& input, const at::Tensor& effect) const;

  std::shared_ptr<nn::WindowNormalization> window_;
  int64_t cycle_to_start_;
  std::shared_ptr<nn::FutureCovariateEffect> future_covariate_effect_;
};

}  // namespace modewise::models
