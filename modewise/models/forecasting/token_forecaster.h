#pragma once
// Higher-order transformer (HOT) forecaster for series of any order, and variants with other attention: `hot`
// (Kronecker), `transformer` (full), `spatial`, `temporal`.
//
// State names as in the released code: emb.0, emb.2, blocks.N.norm1, blocks.N.attention.query_proj, …,
// blocks.N.feedforward.w1, head.0, head.2.

#include <memory>
#include <vector>

#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/models/token_encoder.h"
#include "modewise/nn/embedding/patch_embedding.h"
#include "modewise/nn/embedding/series_linear.h"
#include "modewise/nn/embedding/time_head.h"

namespace modewise::models {

/// Token tensor of a window: series modes, then time patches.
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
