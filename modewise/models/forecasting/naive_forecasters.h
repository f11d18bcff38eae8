#pragma once
// Forecasts that learn nothing: the honest floor of every comparison.

#include "modewise/models/forecasting/forecaster.h"

namespace modewise::models {

/// The last observed value of each series, for all steps; 0 (the training mean) where nothing was observed.
/// With quantiles, all levels are that value.
class RepeatForecaster : public Forecaster {
 public:
  explicit RepeatForecaster(const ForecastShape& shape) : Forecaster(shape) {}
  at::Tensor forward(const ForecastInput& input) override;
};

/// The value `period` rows earlier, of the newest season in which it was observed; where none was, as repeat.
/// With drift (Hyndman and Athanasopoulos, Forecasting: Principles and Practice, 5.2) each season that lies
/// between a value and its forecast adds the mean step from one season of the window to the next, taken over
/// the cells that both have observed; 0 where no two have. With a period of 1 it is the naive method with
/// drift, the straight line through the first and the last value.
class SeasonalForecaster : public Forecaster {
 public:
  SeasonalForecaster(const ForecastShape& shape, int64_t period, bool drift = false)
      : Forecaster(shape), period_(period), drift_(drift) {}
  at::Tensor forward(const ForecastInput& input) override;

 private:
  int64_t period_;
  bool drift_;
};

}  // namespace modewise::models
