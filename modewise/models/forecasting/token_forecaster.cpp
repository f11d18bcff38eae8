// Higher-order transformer (HOT) forecaster for series of any order, and variants with other attention: `hot`
// (Kronecker), `transformer` (full), `spatial`, `temporal`.
//
// State names as in the released code: emb.0, emb.2, blocks.N.norm1, blocks.N.attention.query_proj, …,
// blocks.N.feedforward.w1, head.0, head.2.

#include <memory>
#include <utility>
#include <vector>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/models/token_encoder.h"
#include "modewise/nn/embedding/patch_embedding.h"
#include "modewise/nn/embedding/series_linear.h"
#include "modewise/nn/embedding/time_head.h"

namespace modewise::models {
namespace {

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

/// Token tensor of a window: series modes, then time patches.
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

void check_token_model(const ForecasterConfig& config, const ForecastShape& shape,
                       const std::string& source) {
  check_patches(config, shape, source);
  validate_encoder(config, token_shape(config, shape), source);
}

/// Effect of future covariates, subtracted from the window and added to the forecast
/// (nn/embedding/future_covariate_effect.h).
void add_covariate_effect_cost(nn::CostAccount& account, const ForecasterConfig& config,
                               const ForecastShape& shape) {
  if (shape.known == 0) return;
  const auto steps = static_cast<double>(shape.lookback + shape.horizon),
             rows = static_cast<double>(shape.covariate_places()) * steps;
  const int64_t terms = shape.known + config.known.width, series = shape.series_count();
  account.layer("future covariates");
  if (config.known.width > 0) account.linear("future covariates", shape.known, config.known.width, rows);
  account.add("future covariates", series * terms, static_cast<double>(series * terms) * steps);
  account.keep(rows * static_cast<double>(terms));
}

void add_head_cost(nn::CostAccount& account, const ForecasterConfig& config, const ForecastShape& shape,
                   double tokens, int64_t patches) {
  const auto series = static_cast<double>(shape.series_count());
  const bool flat = config.head.time == "flatten", pooled = config.head.time == "mean";
  account.layer("head");
  if (config.head.norm) account.norm(config.width, pooled ? series : tokens);
  if (config.head.time == "attention") {
    account.linear("head", config.width, config.heads, tokens, false);
    account.add("head", 0, tokens * static_cast<double>(config.width));
  }
  account.linear("head", flat ? config.width * patches : config.width, forecast_outputs(shape), series);
  if (config.head.skip != "none") {
    const int64_t maps = config.head.skip == "individual" ? shape.series_count() : 1;
    account.add("head", maps * (shape.lookback + 1) * forecast_outputs(shape),
                series * static_cast<double>(shape.lookback * forecast_outputs(shape)));
  }
  account.keep(2 * tokens * static_cast<double>(config.width));
}

nn::ModelCost token_forecaster_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                    Projection projection) {
  const TokenShape tokens = token_shape(config, shape);
  const double count = nn::cell_count(tokens.sizes);
  nn::CostAccount account(config.precision);
  account.layer("embedding");
  add_window_cost(account, config.window, shape);
  const int64_t channels = shape.missing ? 2 : 1;
  account.linear("embedding", channels * config.patch.length, config.width, count);
  if (config.patch.embedding == "relu_norm") account.norm(config.width, count);
  account.keep(count * static_cast<double>(channels * config.patch.length));
  add_codes(account, config, tokens);
  add_blocks(account, config, config.name, tokens, projection);
  add_head_cost(account, config, shape, count, tokens.sizes.back());
  add_covariate_effect_cost(account, config, shape);
  return std::move(account).cost(tokens.sizes);
}

SharedOptions token_forecaster_options() {
  return joined({token_options(), {"window", "position", "future_covariates", "attention.query_key_norm"}});
}

ForecasterRow token_row(const std::string& name, SharedOptions shared) {
  return {.name = name,
          .mechanism = name,
          .shared = std::move(shared),
          .make = make_model<TokenForecaster>,
          .cost = token_forecaster_cost,
          .check = check_token_model};
}

}  // namespace

ForecasterRow hot_row() {
  return token_row("hot", joined({token_forecaster_options(), {"attention"}}));
}

ForecasterRow transformer_row() {
  return token_row(
      "transformer",
      joined({token_forecaster_options(), {"attention.type", "attention.kernel"}, random_feature_options()}));
}

ForecasterRow spatial_row() {
  return token_row("spatial", token_forecaster_options());
}

ForecasterRow temporal_row() {
  return token_row("temporal", token_forecaster_options());
}

}  // namespace modewise::models
