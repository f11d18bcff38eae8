#pragma once
// Naive forecasters without parameters, as baselines.

#include "modewise/models/forecasting/forecaster.h"

namespace modewise::models {

/// Naive method: repeats the last observed value of each series; 0 (the training mean) if nothing was
/// observed. All quantiles are equal to it.
class RepeatForecaster : public Forecaster {
 public:
  explicit RepeatForecaster(const ForecastShape& shape) : Forecaster(shape) {}
  at::Tensor forward(const ForecastInput& input) override;
  bool local() const override { return true; }
};

/// Seasonal naive method: the value of the same phase in the newest season in which it was observed; else as
/// repeat. With drift (Hyndman and Athanasopoulos, Forecasting: Principles and Practice, 5.2), each season
/// between a value and its forecast adds the mean change from one season of the window to the next, over
/// cells observed in both; 0 if there are none. Period 1 gives the drift method: the line through first and
/// last value.
class SeasonalForecaster : public Forecaster {
 public:
  SeasonalForecaster(const ForecastShape& shape, int64_t period, bool drift = false)
      : Forecaster(shape), period_(period), drift_(drift) {}
  at::Tensor forward(const ForecastInput& input) override;
  bool local() const override { return true; }

 private:
  int64_t period_;
  bool drift_;
};

}  // namespace modewise::models
