#pragma once
// What the trained forecasters share: the window is normalised, a core maps it to raw outputs, and those
// become a point or quantile forecast in the window's own scale.

#include <memory>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/embedding/future_covariate_effect.h"
#include "modewise/nn/embedding/window_normalization.h"

namespace modewise::models {

class LearnedForecaster : public Forecaster {
 public:
  LearnedForecaster(const ForecastShape& shape, const WindowConfig& window);

  at::Tensor forward(const ForecastInput& input) override;
  int64_t cycle_to_start() const override { return cycle_to_start_; }
  void start_cycle(const at::Tensor& profile) override;

 protected:
  /// values [B, N_1 … N_j, L] of the input's past, normalised, 0 where not observed
  /// -> [B, N_1 … N_j, outputs()]
  virtual at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) = 0;
  /// What is known ahead then acts through an effect that is taken off the past and put back on the forecast
  /// (nn/future_covariate_effect.h), for models that do not look at it themselves.
  void add_future_covariate_effect(nn::Initializer& init, const FutureCovariateConfig& config);
  /// H, or H · Q with the quantiles of a step side by side.
  int64_t outputs() const;
  nn::NormalizedWindow normalized(const ForecastInput& input) const;

 private:
  /// Undefined without one.
  at::Tensor future_covariate_effect(const ForecastInput& input) const;
  nn::NormalizedWindow normalized(const ForecastInput& input, const at::Tensor& effect) const;

  std::shared_ptr<nn::WindowNormalization> window_;
  int64_t cycle_to_start_;
  std::shared_ptr<nn::FutureCovariateEffect> future_covariate_effect_;
};

}  // namespace modewise::models
