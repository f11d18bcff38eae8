#pragma once
// Theta forecaster: the Theta method per series.

#include <cstdint>
#include <span>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/local_forecaster.h"
#include "modewise/models/forecasting/theta.h"

namespace modewise::models {

/// Theta method, refitted to each window. If a series' last training rows (at most 1,000 or three periods)
/// are seasonal, the window is seasonally adjusted (seasonal_adjustment.h) and the season is added back to
/// the forecast; a multiplicative season also scales the standard deviation. Models theta, optimised-theta
/// and dynamic-theta.
class ThetaForecaster : public LocalForecaster {
 public:
  ThetaForecaster(const ForecasterConfig& config, const ForecastShape& shape, ThetaForm form);

 protected:
  void forecast(int64_t series, std::span<const double> history, std::span<double> out) const override;
  void fit_series(int64_t series, std::span<const double> history) override;

 private:
  ThetaForm form_;
  at::Tensor seasonal_;  // [S] int64: whether each series is seasonal; 1 before the fit
};

}  // namespace modewise::models
