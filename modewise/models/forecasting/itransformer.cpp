// iTransformer (Liu et al., ICLR 2024): each series' whole window is one token; post-norm encoder over the
// series. The authors' time feature tokens are not used.

#include <memory>
#include <optional>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/attention/attention.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {
namespace {

class ITransformerLayer : public torch::nn::Module {
 public:
  ITransformerLayer(const ForecasterConfig& config, nn::Initializer& init);

  /// x [B, N, D]; mask [B, N] bool or none: true for series with any observed cell.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask);

 private:
  std::shared_ptr<nn::TokenAttention> attention_;
  std::shared_ptr<nn::GELUNetwork> feed_forward_;
  std::shared_ptr<nn::LayerNorm> norm1_, norm2_;
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_;
};

class ITransformer : public LearnedForecaster {
 public:
  ITransformer(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  bool bfloat16_;
  std::shared_ptr<nn::Linear> embedding_, projector_;
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::ModuleList<ITransformerLayer>> layers_;
  std::shared_ptr<nn::LayerNorm> norm_;
};

ITransformerLayer::ITransformerLayer(const ForecasterConfig& config, nn::Initializer& init)
    : attention_(register_module(
          "attention", std::make_shared<nn::TokenAttention>(
                           init, config.width, config.heads,
                           nn::TokenAttentionOptions{.query_key_norm = false, .dropout = config.dropout}))),
      feed_forward_(register_module(
          "ff", std::make_shared<nn::GELUNetwork>(init, config.width, config.hidden, config.dropout))),
      norm1_(register_module("norm1", std::make_shared<nn::LayerNorm>(config.width))),
      norm2_(register_module("norm2", std::make_shared<nn::LayerNorm>(config.width))),
      dropout1_(register_module("dropout1", std::make_shared<nn::Dropout>(init, config.dropout))),
      dropout2_(register_module("dropout2", std::make_shared<nn::Dropout>(init, config.dropout))) {}

at::Tensor ITransformerLayer::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  const at::Tensor middle = norm1_->forward(dropout1_->add_to(x, attention_->forward(x, mask)));
  return norm2_->forward(dropout2_->add_to(middle, feed_forward_->forward(middle)));
}

ITransformer::ITransformer(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
    : LearnedForecaster(shape, config.window),
      bfloat16_(config.precision == "bf16"),
      embedding_(
          register_module("embedding", std::make_shared<nn::Linear>(init, shape.lookback, config.width))),
      dropout_(register_module("dropout", std::make_shared<nn::Dropout>(init, config.dropout))),
      layers_(register_module("layers", std::make_shared<nn::ModuleList<ITransformerLayer>>())) {
  for (int64_t i = 0; i < config.blocks; ++i)
    layers_->push_back(std::make_shared<ITransformerLayer>(config, init));
  norm_ = register_module("norm", std::make_shared<nn::LayerNorm>(config.width));
  projector_ = register_module("projector", std::make_shared<nn::Linear>(init, config.width, outputs()));
}

at::Tensor ITransformer::raw_forecast(const at::Tensor& values, const ForecastInput& input) {
  std::optional<at::Tensor> mask;
  if (input.observed.defined()) mask = input.observed.flatten(1, -2).any(-1);
  at::Tensor x = values.flatten(1, -2).to(bfloat16_ ? at::kBFloat16 : values.scalar_type());  // [B, N, L]
  x = dropout_->forward(embedding_->forward(x));
  for (const auto& layer : *layers_) x = layer->forward(x, mask);
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = outputs();
  return projector_->forward(norm_->forward(x)).view(sizes);
}

void use_itransformer(ForecasterConfig& config) {
  config.width = 512;
  config.hidden = 512;
  config.heads = 8;
  config.feed_forward = "gelu";
}

nn::ModelCost itransformer_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                Projection /*projection*/) {
  nn::CostAccount account(config.precision);
  account.layer("embedding");
  add_window_cost(account, config.window, shape);
  const auto series = static_cast<double>(shape.series_count());
  account.linear("embedding", shape.lookback, config.width, series);
  account.keep(series * static_cast<double>(shape.lookback + 2 * config.width));
  add_transformer_layers(account, config, 1, series);
  account.layer("head");
  account.norm(config.width, series);
  account.linear("head", config.width, forecast_outputs(shape), series);
  return std::move(account).cost({shape.series_count()});
}

}  // namespace

ForecasterRow itransformer_row() {
  return {.name = "itransformer",
          .shared = {"precision", "width", "hidden", "layers", "heads", "dropout", "window"},
          .make = make_model<ITransformer>,
          .cost = itransformer_cost,
          .defaults = use_itransformer,
          .check = check_heads};
}

}  // namespace modewise::models
