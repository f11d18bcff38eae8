// Non-stationary Transformer (Liu et al., NeurIPS 2022) as in the authors' code: an
// encoder-decoder transformer of normalized windows whose attention scores are rescaled and shifted by
// factors learned from the window before its normalization.

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/relu.h>

#include <cmath>
#include <memory>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/decomposition_transformer.h"
#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/models/forecasting/window_embedding.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::models {
namespace {

struct NonstationaryConfig {
  int64_t decoder_layers = 1;
  int64_t factor_hidden = 256;  // hidden width of the factors' networks
  int64_t factor_layers = 2;    // their hidden layers
  void fields(Fields& fields);
};

void NonstationaryConfig::fields(Fields& f) {
  f.add("decoder_layers", decoder_layers, "layers of the decoder", {.min = 1, .max = 1000});
  f.add("factor_hidden", factor_hidden, "hidden width of the networks of the de-stationary factors",
        {.min = 1, .max = 65536});
  f.add("factor_layers", factor_layers, "hidden layers of these networks", {.min = 1, .max = 100});
}

/// Scale and shift of the attention scores.
struct Factors {
  at::Tensor scale;  // [B, 1, 1, 1]
  at::Tensor shift;  // [B, 1, 1, L], per key
};

/// softmax((scale · q kᵀ + shift) / √d) v
class DestationaryAttention : public torch::nn::Module {
 public:
  DestationaryAttention(const ForecasterConfig& config, bool causal, nn::Initializer& init)
      : heads_(config.heads),
        causal_(causal),
        query_(register_module("query_proj", std::make_shared<nn::Linear>(init, config.width, config.width))),
        key_(register_module("key_proj", std::make_shared<nn::Linear>(init, config.width, config.width))),
        value_(register_module("value_proj", std::make_shared<nn::Linear>(init, config.width, config.width))),
        out_(register_module("out_proj", std::make_shared<nn::Linear>(init, config.width, config.width))),
        dropout_(register_module("dropout", std::make_shared<nn::Dropout>(init, config.dropout))) {}

  /// Without a shift if it is undefined.
  at::Tensor forward(const at::Tensor& queries, const at::Tensor& source, const Factors& factors) const {
    const auto split = [&](const at::Tensor& x) { return x.unflatten(2, {heads_, -1}).transpose(1, 2); };
    const at::Tensor q = split(query_->forward(queries)), k = split(key_->forward(source)),
                     v = split(value_->forward(source));
    at::Tensor scores = ops::matmul(q, k.transpose(2, 3)) * factors.scale;
    if (factors.shift.defined()) scores = scores + factors.shift;
    scores = scores / std::sqrt(static_cast<double>(q.size(3)));
    if (causal_) {
      const at::Tensor places = at::arange(q.size(2), at::TensorOptions(at::kLong).device(q.device()));
      scores = scores.masked_fill(places > places.unsqueeze(1), -1e30);
    }
    const at::Tensor weights = dropout_->forward(ops::softmax(scores));
    return out_->forward(ops::matmul(weights, v).transpose(1, 2).flatten(2));
  }

 private:
  int64_t heads_;
  bool causal_;
  std::shared_ptr<nn::Linear> query_, key_, value_, out_;
  std::shared_ptr<nn::Dropout> dropout_;
};

class NonstationaryLayer : public torch::nn::Module {
 public:
  /// `decoder`: the layer attends to the output of the encoder, too.
  NonstationaryLayer(const ForecasterConfig& config, bool decoder, nn::Initializer& init)
      : attention_(
            register_module("attention", std::make_shared<DestationaryAttention>(config, decoder, init))),
        norm1_(register_module("norm1", std::make_shared<nn::LayerNorm>(config.width))),
        norm2_(register_module("norm2", std::make_shared<nn::LayerNorm>(config.width))),
        dropout1_(register_module("dropout1", std::make_shared<nn::Dropout>(init, config.dropout))),
        dropout2_(register_module("dropout2", std::make_shared<nn::Dropout>(init, config.dropout))),
        feed_forward_(register_module(
            "ff", std::make_shared<nn::GELUNetwork>(init, config.width, config.hidden, config.dropout))) {
    if (!decoder) return;
    cross_ = register_module("cross_attention", std::make_shared<DestationaryAttention>(config, false, init));
    norm3_ = register_module("norm3", std::make_shared<nn::LayerNorm>(config.width));
    dropout3_ = register_module("dropout3", std::make_shared<nn::Dropout>(init, config.dropout));
  }

  at::Tensor forward(const at::Tensor& x, const Factors& factors, const at::Tensor& encoded = {}) const {
    // The shift belongs to the window's steps, not to those of the decoder.
    const Factors own = cross_ ? Factors{factors.scale, {}} : factors;
    at::Tensor y = norm1_->forward(dropout1_->add_to(x, attention_->forward(x, x, own)));
    if (cross_) y = norm2_->forward(dropout3_->add_to(y, cross_->forward(y, encoded, factors)));
    return (cross_ ? norm3_ : norm2_)->forward(dropout2_->add_to(y, feed_forward_->forward(y)));
  }

 private:
  std::shared_ptr<DestationaryAttention> attention_, cross_;
  std::shared_ptr<nn::LayerNorm> norm1_, norm2_, norm3_;
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_, dropout3_;
  std::shared_ptr<nn::GELUNetwork> feed_forward_;
};

/// Network of a de-stationary factor: the window [B, N, L] and a statistic per series [B, N] -> [B, outputs].
class FactorNetwork : public torch::nn::Module {
 public:
  FactorNetwork(const NonstationaryConfig& config, const ForecastShape& shape, int64_t outputs,
                nn::Initializer& init)
      // Weights with variance 1 / (3 fan-in), PyTorch's.
      : convolution_(register_module(
            "series_conv", std::make_shared<nn::Convolution>(init, 1, shape.lookback, 1, 3, 1, 0, false,
                                                             1 / static_cast<double>(3 * shape.lookback)))),
        hidden_(register_module("backbone", std::make_shared<nn::ModuleList<nn::Linear>>())) {
    int64_t in = 2 * shape.series_count();
    for (int64_t i = 0; i < config.factor_layers; ++i, in = config.factor_hidden)
      hidden_->push_back(std::make_shared<nn::Linear>(init, in, config.factor_hidden));
    out_ = register_module("out", std::make_shared<nn::Linear>(init, in, outputs, false));
  }

  at::Tensor forward(const at::Tensor& window, const at::Tensor& statistic) const {
    at::Tensor x = at::cat({convolution_->forward(circular(window)).flatten(1), statistic}, 1);
    for (const auto& layer : *hidden_) x = at::relu(layer->forward(x));
    return out_->forward(x);
  }

 private:
  std::shared_ptr<nn::Convolution> convolution_;
  std::shared_ptr<nn::ModuleList<nn::Linear>> hidden_;
  std::shared_ptr<nn::Linear> out_;
};

class NonstationaryTransformer : public LearnedForecaster {
 public:
  NonstationaryTransformer(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  Factors factors(const ForecastInput& input) const;

  std::shared_ptr<WindowEmbedding> encoder_embedding_, decoder_embedding_;
  std::shared_ptr<nn::ModuleList<NonstationaryLayer>> encoder_, decoder_;
  std::shared_ptr<nn::LayerNorm> encoder_norm_, decoder_norm_;
  std::shared_ptr<nn::Linear> projection_;
  std::shared_ptr<FactorNetwork> scale_, shift_;
};

NonstationaryTransformer::NonstationaryTransformer(const ForecasterConfig& config, const ForecastShape& shape,
                                                   nn::Initializer& init)
    : LearnedForecaster(shape, config.window),
      encoder_embedding_(register_module(
          "enc_embedding",
          std::make_shared<WindowEmbedding>(init, shape, config.width, shape.lookback, config.dropout))),
      decoder_embedding_(register_module(
          "dec_embedding", std::make_shared<WindowEmbedding>(init, shape, config.width, decoder_steps(shape),
                                                             config.dropout))),
      encoder_(register_module("encoder", std::make_shared<nn::ModuleList<NonstationaryLayer>>())),
      decoder_(register_module("decoder", std::make_shared<nn::ModuleList<NonstationaryLayer>>())),
      encoder_norm_(register_module("encoder_norm", std::make_shared<nn::LayerNorm>(config.width))),
      decoder_norm_(register_module("decoder_norm", std::make_shared<nn::LayerNorm>(config.width))),
      projection_(register_module(
          "projection", std::make_shared<nn::Linear>(init, config.width,
                                                     shape.series_count() * (outputs() / shape.horizon)))) {
  const NonstationaryConfig& own = config.own.of<NonstationaryConfig>();
  for (int64_t i = 0; i < config.blocks; ++i)
    encoder_->push_back(std::make_shared<NonstationaryLayer>(config, false, init));
  for (int64_t i = 0; i < own.decoder_layers; ++i)
    decoder_->push_back(std::make_shared<NonstationaryLayer>(config, true, init));
  scale_ = register_module("tau_learner", std::make_shared<FactorNetwork>(own, shape, 1, init));
  shift_ =
      register_module("delta_learner", std::make_shared<FactorNetwork>(own, shape, shape.lookback, init));
}

Factors NonstationaryTransformer::factors(const ForecastInput& input) const {
  constexpr double kLargest = 80;  // exp must not overflow
  const nn::NormalizedWindow window = normalized(input);
  const at::Tensor past = checked_past(input).flatten(1, -2);
  const at::Tensor scale = scale_->forward(past, window.stddev.flatten(1)).clamp_max(kLargest);
  return {ops::elementary(scale, "exp").unsqueeze(-1).unsqueeze(-1),
          shift_->forward(past, window.centre.flatten(1)).unsqueeze(1).unsqueeze(1)};
}

at::Tensor NonstationaryTransformer::raw_forecast(const at::Tensor& values, const ForecastInput& input) {
  const int64_t horizon = shape().horizon, half = shape().lookback / 2, quantiles = outputs() / horizon;
  const Factors factors = this->factors(input);
  const at::Tensor window = values.flatten(1, -2).transpose(1, 2).contiguous();  // [B, L, N]
  const at::Tensor known = known_of(input);
  at::Tensor encoded = encoder_embedding_->forward(window, known, 0);
  for (const auto& layer : *encoder_) encoded = layer->forward(encoded, factors);
  encoded = encoder_norm_->forward(encoded);
  at::Tensor x = decoder_embedding_->forward(
      at::constant_pad_nd(window.narrow(1, window.size(1) - half, half), {0, 0, 0, horizon}), known,
      window.size(1) - half);
  for (const auto& layer : *decoder_) x = layer->forward(x, factors, encoded);
  x = projection_->forward(decoder_norm_->forward(x).narrow(1, half, horizon));
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = outputs();
  return x.view({x.size(0), horizon, -1, quantiles}).transpose(1, 2).reshape(sizes);
}

/// TSLib's ETTh1 settings.
void use_nonstationary(ForecasterConfig& config) {
  config.width = 128;
  config.hidden = 2048;
  config.heads = 8;
}

nn::ModelCost nonstationary_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                 Projection /*projection*/) {
  nn::CostAccount account(config.precision);
  const NonstationaryConfig& own = config.own.of<NonstationaryConfig>();
  const int64_t width = config.width, series = shape.series_count();
  const auto n = static_cast<double>(series), window = static_cast<double>(shape.lookback),
             ahead = static_cast<double>(decoder_steps(shape)), d = static_cast<double>(width);
  account.layer("embedding");
  for (const int64_t steps : {shape.lookback, decoder_steps(shape)})
    add_window_embedding_cost(account, shape, width, steps);
  for (const int64_t outputs : {int64_t{1}, shape.lookback}) {
    account.linear("factors", 3 * shape.lookback, 1, n, false);
    int64_t in = 2 * series;
    for (int64_t i = 0; i < own.factor_layers; ++i, in = own.factor_hidden)
      account.linear("factors", in, own.factor_hidden, 1);
    account.linear("factors", in, outputs, 1, false);
  }
  const auto attention = [&](double queries, double keys) {
    for (const char* name : {"query and key", "value and output"}) {
      account.linear(name, width, width, queries);
      account.linear(name, width, width, keys);
    }
    account.add("scores and mixing", 0, 2 * queries * keys * d);
    account.keep((3 * queries + 2 * keys) * d + queries * keys * static_cast<double>(2 * config.heads));
  };
  const auto rest = [&](double steps, int norms) {
    account.linear("feed-forward", width, config.hidden, steps);
    account.linear("feed-forward", config.hidden, width, steps);
    for (int i = 0; i < norms; ++i) account.norm(width, steps);
    account.keep(steps * static_cast<double>(5 * width + 2 * config.hidden));
  };
  for (int64_t i = 0; i < config.blocks; ++i) {
    account.layer("block " + std::to_string(i + 1));
    attention(window, window);
    rest(window, 2);
  }
  account.norm(width, window);
  for (int64_t i = 0; i < own.decoder_layers; ++i) {
    account.layer("block " + std::to_string(config.blocks + i + 1));
    attention(ahead, ahead);
    attention(ahead, window);
    rest(ahead, 3);
  }
  account.norm(width, ahead);
  account.layer("head");
  account.linear("head", width, series * (forecast_outputs(shape) / shape.horizon),
                 static_cast<double>(shape.horizon));
  return std::move(account).cost({shape.lookback});
}

}  // namespace

ForecasterRow nonstationary_row() {
  return {.name = "nonstationary",
          .shared = {"width", "hidden", "layers", "heads", "dropout"},
          .make = make_model<NonstationaryTransformer>,
          .cost = nonstationary_cost,
          .defaults = use_nonstationary,
          .check = check_heads,
          .own = own_options<NonstationaryConfig>,
          .future_covariates = true};
}

}  // namespace modewise::models
