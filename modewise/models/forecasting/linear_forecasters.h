#pragma once
// Linear baselines: DLinear and NLinear (Zeng et al., AAAI 2023), RLinear (Li et al. 2023, arXiv 2305.10721).

#include <memory>

#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/embedding/series_linear.h"
#include "modewise/nn/layers/dropout.h"

namespace modewise::models {

/// Decomposition into a moving average (replicate padding) and the remainder, with one linear layer each; no
/// normalization.
class DLinear : public LearnedForecaster {
 public:
  DLinear(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  int64_t kernel_;
  std::shared_ptr<nn::SeriesLinear> seasonal_, trend_;
};

/// One linear layer over the normalized window: NLinear subtracts the last value; RLinear uses RevIN, then
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
