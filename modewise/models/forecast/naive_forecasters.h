#pragma once
// Forecasts that learn nothing: the honest floor of every comparison.

#include "modewise/models/forecast/forecaster.h"

namespace modewise::models {

/// The last observed value of each series, for all steps; 0 (the training mean) where nothing was observed.
/// With quantiles, all levels are that value.
class RepeatForecaster : public Forecaster {
 public:
  explicit RepeatForecaster(const ForecastShape& shape) : Forecaster(shape) {}
  at::Tensor forward(const ForecastInput& input) override;
};

/// The value `period` rows earlier, of the newest season in which it was observed; where none was, as repeat.
class SeasonalForecaster : public Forecaster {
 public:
  SeasonalForecaster(const ForecastShape& shape, int64_t period) : Forecaster(shape), period_(period) {}
  at::Tensor forward(const ForecastInput& input) override;

 private:
  int64_t period_;
};

}  // namespace modewise::models
