#pragma once
// Exponential smoothing (ETS) of each series by itself.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/local_forecaster.h"
#include "modewise/models/forecasting/smoothing_fit.h"
#include "modewise/nn/initializer.h"

namespace modewise::models {

/// Form (that of the smallest AICc with form = "auto") and parameters of each series come from its last
/// training rows, at most 1,000 or three periods. At each origin the states are filtered through the window,
/// from first states of the largest likelihood there (fit_states); a window with a value that is not positive
/// takes the form whose parts are all added. Quantiles are those of normal errors with the variance of the
/// fit; where a part is multiplied, of 400 simulated futures whose errors the seed draws.
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
