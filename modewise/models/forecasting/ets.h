#pragma once
// ETS forecaster: local exponential smoothing of each series.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/local_forecaster.h"
#include "modewise/models/forecasting/smoothing_fit.h"
#include "modewise/nn/initializer.h"

namespace modewise::models {

/// Model form (smallest AICc for form = "auto") and parameters of each series are fitted to its last training
/// rows, at most 1,000 or three periods. At each origin the states are filtered through the window from
/// maximum-likelihood initial states (fit_states); a window with a non-positive value uses the additive form.
/// Quantiles assume normal errors with the fitted variance; multiplicative forms use 400 simulated paths with
/// errors drawn from the seed.
class EtsForecaster : public LocalForecaster {
 public:
  EtsForecaster(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  void forecast(int64_t series, std::span<const double> history, std::span<double> out) const override;
  void fit_series(int64_t series, std::span<const double> history) override;

 private:
  SmoothingForm form_of(int64_t series) const;

  std::string form_;
  std::vector<double> noise_;                  // [400, H]; empty for point forecasts
  at::Tensor forms_, parameters_, variances_;  // [S, 4] int64 characters, [S, 4], [S]
};

}  // namespace modewise::models
