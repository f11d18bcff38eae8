#pragma once
// TiDE (Das et al., "Long-term Forecasting with TiDE: Time-series Dense Encoder", TMLR 2023), channel
// independent: future covariates are projected per step, encoded together with the window, decoded to a
// vector per step of the horizon, and concatenated with that step's covariates in the temporal decoder; plus
// a linear residual connection from the window.

#include <memory>

#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/layers/module_list.h"
#include "modewise/nn/layers/residual_block.h"

namespace modewise::models {

class Tide : public LearnedForecaster {
 public:
  Tide(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  using Blocks = nn::ModuleList<nn::ResidualBlock>;
  /// Projected future covariates per series: [B, N, L + H, r].
  at::Tensor projected(const ForecastInput& input, at::ScalarType type) const;

  bool bfloat16_;
  int64_t step_width_;  // p: decoder outputs per step
  std::shared_ptr<nn::ResidualBlock> features_;
  std::shared_ptr<Blocks> encoder_, decoder_;
  std::shared_ptr<nn::ResidualBlock> temporal_;
  std::shared_ptr<nn::Linear> residual_;
};

}  // namespace modewise::models
