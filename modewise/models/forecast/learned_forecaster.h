#pragma once
// What the trained forecasters share: the window is normalised, a core maps it to raw outputs, and those
// become a point or quantile forecast in the window's own scale.

#include <memory>

#include "modewise/models/forecast/config.h"
#include "modewise/models/forecast/forecaster.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/window_normalization.h"

namespace modewise::models {

class LearnedForecaster : public Forecaster {
 public:
  LearnedForecaster(const ForecastShape& shape, const WindowConfig& window);

  at::Tensor forward(const ForecastInput& input) override;
  int64_t cycle_to_start() const override { return cycle_to_start_; }
  void start_cycle(const at::Tensor& profile) override;

 protected:
  /// values [B, N_1 … N_j, L] normalised, 0 where not observed -> [B, N_1 … N_j, outputs()]
  virtual at::Tensor raw_forecast(const at::Tensor& values, const at::Tensor& observed) = 0;
  /// H, or H · Q with the quantiles of a step side by side.
  int64_t outputs() const;
  nn::NormalizedWindow normalized(const ForecastInput& input) const;

 private:
  std::shared_ptr<nn::WindowNormalization> window_;
  int64_t cycle_to_start_;
};

}  // namespace modewise::models
