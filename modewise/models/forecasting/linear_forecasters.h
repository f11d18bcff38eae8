#pragma once
// Linear baselines: DLinear and NLinear (Zeng et al., AAAI 2023), RLinear (Li et al. 2023, arXiv 2305.10721).

#include <memory>

#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/embedding/series_linear.h"

namespace modewise::models {

/// A window is cut into a moving average (ends repeated) and the rest; each has its linear map; no
/// normalisation.
class DLinear : public LearnedForecaster {
 public:
  DLinear(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  int64_t kernel_;
  std::shared_ptr<nn::SeriesLinear> seasonal_, trend_;
};

/// One linear map of the normalised window: NLinear takes the last value off, RLinear uses RevIN, then
/// dropout.
class LinearForecaster : public LearnedForecaster {
 public:
  LinearForecaster(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::SeriesLinear> linear_;
};

}  // namespace modewise::models
