#pragma once
// Base class of local models (theta, ets), which forecast each series separately from its rows up to the
// origin: windows are converted to the data's units in float64 (unscaled.h), gaps are interpolated linearly,
// and each history is forecast independently, so that the bits do not depend on the number of threads.

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/models/forecasting/forecaster.h"
#include "modewise/models/forecasting/step_forecast.h"
#include "modewise/nn/layers/move_module.h"

namespace modewise::models {

class LocalForecaster : public Forecaster, public nn::CpuModule {
 public:
  LocalForecaster(const ForecastShape& shape, int64_t period);

  at::Tensor forward(const ForecastInput& input) override;
  /// Stores the scaling and fits each series to its last training rows, 1,000 or three periods.
  void fit(const FittingRows& rows) override;
  bool refits() const override { return true; }
  void refit(const FittingRows& rows) override { fit(rows); }
  bool local() const override { return true; }

 protected:
  /// Forecasts the steps after `history`, the L rows of a window of series `series` in the data's units
  /// without gaps: `out` [H], or [H, Q] with quantiles ascending.
  virtual void forecast(int64_t series, std::span<const double> history, std::span<double> out) const = 0;
  /// Fits series `series` to its training rows, in the data's units without gaps. Called in parallel:
  /// different series must write to different memory.
  virtual void fit_series(int64_t series, std::span<const double> history) = 0;

  /// Writes the mean, or normal quantiles around it.
  void write_normal(const StepForecast& steps, std::span<double> out) const;
  /// The quantile levels.
  const std::vector<double>& levels() const { return levels_; }
  /// Season length in rows.
  int64_t period() const { return period_; }

 private:
  int64_t period_;
  at::Tensor mean_, stddev_;  // [N_1…N_j]
  std::vector<double> levels_, normal_;
};

}  // namespace modewise::models
