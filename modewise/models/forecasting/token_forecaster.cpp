#include "modewise/models/forecasting/token_forecaster.h"

#include <memory>

namespace modewise::models {
TokenShape token_shape(const ForecasterConfig& config, const ForecastShape& shape) {
  TokenShape out;
  out.sizes = shape.series;
  out.sizes.push_back(nn::patch_count(shape.lookback, config.patch.length, config.patch.stride));
  for (size_t mode = 0; mode < shape.ordered.size(); ++mode)
    if (shape.ordered[mode]) out.ordered_modes.push_back(static_cast<int64_t>(mode));
  out.ordered_modes.push_back(out.modes() - 1);
  return out;
}

TokenForecaster::TokenForecaster(const ForecasterConfig& config, const ForecastShape& shape,
                                 nn::Initializer& init)
    : LearnedForecaster(shape, config.window), bfloat16_(config.precision == "bf16") {
  const TokenShape tokens = token_shape(config, shape);
  embedding_ = register_module("emb", std::make_shared<nn::PatchEmbedding>(
                                          init, config.patch.length, config.patch.stride, config.width,
                                          nn::patch_activation(config.patch.embedding), shape.missing));
  encoder_ = std::make_shared<TokenEncoder>(config, config.name, tokens, config.patch.dropout, init);
  encoder_->join(*this);
  head_ =
      register_module("head", std::make_shared<nn::TimeHead>(
                                  init, nn::time_pooling(config.head.time), tokens.sizes.back(), config.width,
                                  config.heads, outputs(), config.head.dropout, config.head.norm));
  if (config.head.zero_start) head_->set_to_zero();
  if (config.head.skip != "none") {
    skip_ = register_module("skip", std::make_shared<nn::SeriesLinear>(
                                        init, config.head.skip == "individual" ? shape.series_count() : 0,
                                        shape.lookback, outputs()));
    skip_->set_to_zero();
  }
  add_future_covariate_effect(init, config.known);
}

nn::PatchTokens TokenForecaster::embed(const at::Tensor& values, const at::Tensor& observed) const {
  return embedding_->forward(values, observed, bfloat16_ ? at::kBFloat16 : values.scalar_type());
}

at::Tensor TokenForecaster::raw_forecast(const at::Tensor& values, const ForecastInput& input) {
  nn::PatchTokens x = embed(values, input.observed);
  x.tokens = encoder_->forward(x);
  const at::Tensor out = head_->forward(x.tokens, x.mask);
  return skip_ ? out.to(values.scalar_type()) + skip_->forward(values) : out;
}

AttentionView TokenForecaster::attention(const ForecastInput& input) {
  return encoder_->attention(embed(normalized(input).values, input.observed));
}

}  // namespace modewise::models
