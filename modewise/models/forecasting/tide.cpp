#include "modewise/models/forecasting/tide.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>

namespace modewise::models {

Tide::Tide(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
    : LearnedForecaster(shape, config.window),
      bfloat16_(config.precision == "bf16"),
      step_width_(config.tide.step_width),
      encoder_(register_module("encoder", std::make_shared<Blocks>())),
      decoder_(register_module("decoder", std::make_shared<Blocks>())) {
  const int64_t width = config.width, known = shape.known > 0 ? config.known.width : 0;
  const auto block = [&](int64_t in, int64_t hidden, int64_t out, bool norm) {
    return std::make_shared<nn::ResidualBlock>(init, in, hidden, out, config.dropout, norm);
  };
  const bool norm = config.tide.norm;
  if (known > 0) features_ = register_module("features", block(shape.known, config.hidden, known, norm));
  int64_t in = (shape.missing ? 2 : 1) * shape.lookback + known * (shape.lookback + shape.horizon);
  for (int64_t i = 0; i < config.blocks; ++i, in = width) encoder_->push_back(block(in, width, width, norm));
  for (int64_t i = 1; i < config.blocks; ++i) decoder_->push_back(block(width, width, width, norm));
  decoder_->push_back(block(width, width, step_width_ * shape.horizon, norm));
  // No norm: LayerNorm over the single output per step would erase it.
  temporal_ = register_module("temporal",
                              block(step_width_ + known, config.hidden, outputs() / shape.horizon, false));
  residual_ = register_module("residual", std::make_shared<nn::Linear>(init, shape.lookback, outputs()));
}

at::Tensor Tide::projected(const ForecastInput& input, at::ScalarType type) const {
  const at::Tensor known = checked_known(input);
  const at::Tensor by_place = known.reshape({known.size(0), -1, known.size(-2), known.size(-1)});
  const at::Tensor x = features_->forward(by_place.to(type).transpose(-2, -1));
  const int64_t series = shape().series_count(), batch = x.size(0), places = x.size(1);
  return x.unsqueeze(2)
      .expand({batch, places, series / places, x.size(2), x.size(3)})
      .reshape({batch, series, x.size(2), x.size(3)});
}

at::Tensor Tide::raw_forecast(const at::Tensor& values, const ForecastInput& input) {
  const int64_t lookback = shape().lookback, horizon = shape().horizon;
  const at::Tensor window = values.flatten(1, -2).to(bfloat16_ ? at::kBFloat16 : values.scalar_type());
  std::vector<at::Tensor> parts = {window};  // [B, N, ·]
  if (shape().missing)
    parts.push_back(input.observed.defined() ? input.observed.flatten(1, -2).to(window.scalar_type())
                                             : at::ones_like(window));
  at::Tensor known;
  if (features_) {
    known = projected(input, window.scalar_type());
    parts.push_back(known.flatten(2));
  }
  at::Tensor x = at::cat(parts, -1);
  for (const auto& block : *encoder_) x = block->forward(x);
  for (const auto& block : *decoder_) x = block->forward(x);
  x = x.view({x.size(0), x.size(1), horizon, step_width_});
  if (features_) x = at::cat({x, known.narrow(2, lookback, horizon)}, -1);
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = outputs();
  return (temporal_->forward(x).flatten(2) + residual_->forward(window)).view(sizes);
}

}  // namespace modewise::models
