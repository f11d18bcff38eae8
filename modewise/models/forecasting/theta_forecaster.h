#pragma once
// The Theta method for each series by itself.

#include <cstdint>
#include <span>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/local_forecaster.h"
#include "modewise/models/forecasting/theta.h"
#include "modewise/nn/initializer.h"

namespace modewise::models {

/// Theta, fitted to each window anew. Of a series whose last training rows (at most 1,000 or three periods)
/// are seasonal, the window's season is taken off (seasonal_adjustment.h), put back on the forecast and,
/// where it is multiplicative, on the deviation. Models theta, optimised-theta and dynamic-theta.
class ThetaForecaster : public LocalForecaster {
 public:
  ThetaForecaster(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  void forecast(int64_t series, std::span<const double> history, std::span<double> out) const override;
  void fit_series(int64_t series, std::span<const double> history) override;

 private:
  ThetaForm form_;
  at::Tensor seasonal_;  // [S] int64, whether a series is; 1 before the fit
};

}  // namespace modewise::models
