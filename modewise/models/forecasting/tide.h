#pragma once
// TiDE (Das et al., "Long-term Forecasting with TiDE: Time-series Dense Encoder", TMLR 2023): series apart
// from each other; what is known ahead is projected step by step, encoded together with the window, decoded
// to a vector a step of the horizon, and joined there by what is known of that step; a linear map of the
// window beside all that.

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
  /// What is known ahead, projected, for each series: [B, N, L + H, r].
  at::Tensor projected(const ForecastInput& input, at::ScalarType type) const;

  bool bfloat16_;
  int64_t step_width_;  // p: of the decoded vector of a step
  std::shared_ptr<nn::ResidualBlock> features_;
  std::shared_ptr<Blocks> encoder_, decoder_;
  std::shared_ptr<nn::ResidualBlock> temporal_;
  std::shared_ptr<nn::Linear> residual_;
};

}  // namespace modewise::models
