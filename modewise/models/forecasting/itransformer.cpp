#include "modewise/models/forecasting/itransformer.h"

namespace modewise::models {

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

}  // namespace modewise::models
