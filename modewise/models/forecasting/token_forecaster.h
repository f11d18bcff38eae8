#pragma once
// The higher-order transformer as a forecaster for series of any order, and its siblings with other
// attention: `hot` (Kronecker), `transformer` (all tokens against all), `spatial`, `temporal`.
//
// Names in the state are those of the released code: emb.0, emb.2, blocks.N.norm1,
// blocks.N.attention.query_proj, …, blocks.N.feedforward.w1, head.0, head.2.

#include <memory>
#include <vector>

#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/models/token_encoder.h"
#include "modewise/nn/embedding/patch_embedding.h"
#include "modewise/nn/embedding/series_linear.h"
#include "modewise/nn/embedding/time_head.h"

namespace modewise::models {

/// The token tensor of a window: its series modes, then the time patches.
TokenShape token_shape(const ForecasterConfig& config, const ForecastShape& shape);

class TokenForecaster : public LearnedForecaster {
 public:
  TokenForecaster(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

  AttentionView attention(const ForecastInput& input) override;

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  nn::PatchTokens embed(const at::Tensor& values, const at::Tensor& observed) const;

  bool bfloat16_;
  std::shared_ptr<nn::PatchEmbedding> embedding_;
  std::shared_ptr<TokenEncoder> encoder_;
  std::shared_ptr<nn::TimeHead> head_;
  std::shared_ptr<nn::SeriesLinear> skip_;
};

}  // namespace modewise::models
