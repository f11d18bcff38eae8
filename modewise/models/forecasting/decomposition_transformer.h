#pragma once
// Encoder and decoder with progressive series decomposition, shared by Autoformer (Wu et al., NeurIPS 2021)
// and FEDformer (Zhou et al., ICML 2022), as in the authors' code. A layer mixes steps, and subtracts a
// moving average; the decoder adds up the averages as the trend.

#include <functional>
#include <memory>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/models/forecasting/window_embedding.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

struct DecompositionOptions {
  int64_t decoder_layers = 1;
  int64_t kernel = 25;  // rows of the moving average, odd
  void fields(Fields& fields);
};

/// Steps of the decoder: half of the window, then the horizon.
int64_t decoder_steps(const ForecastShape& shape);

/// Mixes steps in place of attention: queries [B, T, D] and the source of keys and values [B, S, D]
/// -> [B, T, D].
class StepMixing : public torch::nn::Module {
 public:
  virtual at::Tensor forward(const at::Tensor& queries, const at::Tensor& source) = 0;
};

class DecompositionEncoderLayer;
class DecompositionDecoderLayer;

class DecompositionTransformer : public LearnedForecaster {
 protected:
  using MakeMixing = std::function<std::shared_ptr<StepMixing>()>;

  /// `positions`: whether steps have sinusoidal positions.
  DecompositionTransformer(const ForecasterConfig& config, const ForecastShape& shape,
                           const DecompositionOptions& options, bool positions, nn::Initializer& init);
  /// Builds the layers with these mixings of the encoder, of the decoder, and from decoder to encoder.
  void build(const ForecasterConfig& config, const DecompositionOptions& options, nn::Initializer& init,
             const MakeMixing& encoder, const MakeMixing& decoder, const MakeMixing& cross);

  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  std::shared_ptr<WindowEmbedding> encoder_embedding_, decoder_embedding_;
  std::shared_ptr<nn::Constant> window_average_;  // moving average of a window [L, L]
  std::shared_ptr<nn::ModuleList<DecompositionEncoderLayer>> encoder_;
  std::shared_ptr<nn::ModuleList<DecompositionDecoderLayer>> decoder_;
  std::shared_ptr<nn::LayerNorm> encoder_norm_, decoder_norm_;
  std::shared_ptr<nn::Linear> projection_;
};

/// Throws a config error for an even kernel; `model` names the options' group.
void check_decomposition(const DecompositionOptions& options, const std::string& model,
                         const std::string& source);

/// Adds the cost of a mixing of `queries` steps with `keys` steps.
using MixingCost = std::function<void(nn::CostAccount& account, int64_t queries, int64_t keys, bool cross)>;
nn::ModelCost decomposition_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                 const DecompositionOptions& options, const MixingCost& mixing);

/// The authors' ETTh1 settings.
void use_decomposition(ForecasterConfig& config);

}  // namespace modewise::models
