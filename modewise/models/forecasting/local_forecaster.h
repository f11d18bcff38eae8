#pragma once
// What local models share, which forecast each series by itself from its rows up to the origin (theta, ets):
// windows come back to the data's units in float64, gaps are closed by straight lines, and each history is
// forecast apart from all others, so that the number of threads changes no bit.

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/models/forecasting/forecaster.h"
#include "modewise/models/forecasting/step_forecast.h"

namespace modewise::models {

class LocalForecaster : public Forecaster {
 public:
  LocalForecaster(const ForecastShape& shape, int64_t period);

  at::Tensor forward(const ForecastInput& input) override;
  /// Keeps the scaling, and fits each series to its last training rows, 1,000 or three periods.
  void fit(const FittingRows& rows) override;
  bool refits() const override { return true; }
  void refit(const FittingRows& rows) override { fit(rows); }

 protected:
  /// The steps after `history`, the L rows of a window of series number `series`, in units and without gaps:
  /// `out` [H], or [H, Q] with quantiles ascending.
  virtual void forecast(int64_t series, std::span<const double> history, std::span<double> out) const = 0;
  /// Fits series number `series` to its training rows, in units and without gaps; of no two series at once
  /// may it write the same place.
  virtual void fit_series(int64_t series, std::span<const double> history) = 0;

  /// Writes the mean, or the quantiles of normal errors around it.
  void write_normal(const StepForecast& steps, std::span<double> out) const;
  /// Levels of the quantiles, those of a normal distribution beside them.
  const std::vector<double>& levels() const { return levels_; }
  /// Rows of a season.
  int64_t period() const { return period_; }

 private:
  int64_t period_;
  at::Tensor mean_, stddev_;  // [N_1…N_j]
  std::vector<double> levels_, normal_;
};

}  // namespace modewise::models
