#pragma once
// iTransformer (Liu et al., ICLR 2024): each series' whole window is one token; post-norm encoder over the
// series. The authors' time feature tokens are not used.

#include <memory>
#include <optional>

#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/attention/attention.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

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

}  // namespace modewise::models
