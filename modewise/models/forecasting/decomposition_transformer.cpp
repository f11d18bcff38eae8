#include "modewise/models/forecasting/decomposition_transformer.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/ops/dense/feed_forward.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::models {
namespace {

/// Matrix [T, T] of the centred moving average over `kernel` steps with replicate padding.
at::Tensor moving_average(int64_t steps, int64_t kernel) {
  const at::Tensor out = at::zeros({steps, steps}, at::kDouble);
  double* weights = out.mutable_data_ptr<double>();
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t k = 0; k < kernel; ++k)
      weights[t * steps + std::clamp<int64_t>(t + k - kernel / 2, 0, steps - 1)] +=
          1 / static_cast<double>(kernel);
  return out;
}

std::shared_ptr<nn::Constant> average_of(int64_t steps, const DecompositionOptions& options) {
  return std::make_shared<nn::Constant>(moving_average(steps, options.kernel));
}

at::Tensor averaged(const nn::Constant& average, const at::Tensor& x) {
  return ops::matmul(average.value().to(x.scalar_type()), x);
}

/// LayerNorm less its mean over the steps.
at::Tensor seasonal_norm(const nn::LayerNorm& norm, const at::Tensor& x) {
  const at::Tensor y = norm.forward(x);
  return y - y.mean(1, true);
}

}  // namespace

/// linear2(dropout(gelu(linear1 x))) without biases.
class DecompositionFeedForward : public torch::nn::Module {
 public:
  DecompositionFeedForward(const ForecasterConfig& config, nn::Initializer& init)
      : linear1_(register_module("linear1",
                                 std::make_shared<nn::Linear>(init, config.width, config.hidden, false))),
        linear2_(register_module("linear2",
                                 std::make_shared<nn::Linear>(init, config.hidden, config.width, false))),
        dropout_(register_module("dropout", std::make_shared<nn::Dropout>(init, config.dropout))) {}

  at::Tensor forward(const at::Tensor& x) const {
    return ops::feed_forward(x,
                             {.first = linear1_->weight(),
                              .second = linear2_->weight(),
                              .gate = {},
                              .first_bias = {},
                              .second_bias = {}},
                             dropout_->active_probability(), dropout_->key());
  }

 private:
  std::shared_ptr<nn::Linear> linear1_, linear2_;
  std::shared_ptr<nn::Dropout> dropout_;
};

class DecompositionEncoderLayer : public torch::nn::Module {
 public:
  DecompositionEncoderLayer(const ForecasterConfig& config, std::shared_ptr<nn::Constant> average,
                            std::shared_ptr<StepMixing> mixing, nn::Initializer& init)
      : average_(register_module("average", std::move(average))),
        mixing_(register_module("attention", std::move(mixing))),
        feed_forward_(register_module("ff", std::make_shared<DecompositionFeedForward>(config, init))),
        dropout1_(register_module("dropout1", std::make_shared<nn::Dropout>(init, config.dropout))),
        dropout2_(register_module("dropout2", std::make_shared<nn::Dropout>(init, config.dropout))) {}

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = dropout1_->add_to(x, mixing_->forward(x, x));
    y = y - averaged(*average_, y);
    y = dropout2_->add_to(y, feed_forward_->forward(y));
    return y - averaged(*average_, y);
  }

 private:
  std::shared_ptr<nn::Constant> average_;
  std::shared_ptr<StepMixing> mixing_;
  std::shared_ptr<DecompositionFeedForward> feed_forward_;
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_;
};

class DecompositionDecoderLayer : public torch::nn::Module {
 public:
  DecompositionDecoderLayer(const ForecasterConfig& config, int64_t series,
                            std::shared_ptr<nn::Constant> average, std::shared_ptr<StepMixing> mixing,
                            std::shared_ptr<StepMixing> cross, nn::Initializer& init)
      : average_(register_module("average", std::move(average))),
        mixing_(register_module("self_attention", std::move(mixing))),
        cross_(register_module("cross_attention", std::move(cross))),
        feed_forward_(register_module("ff", std::make_shared<DecompositionFeedForward>(config, init))),
        dropout1_(register_module("dropout1", std::make_shared<nn::Dropout>(init, config.dropout))),
        dropout2_(register_module("dropout2", std::make_shared<nn::Dropout>(init, config.dropout))),
        dropout3_(register_module("dropout3", std::make_shared<nn::Dropout>(init, config.dropout))),
        // Weights with variance 1 / (3 fan-in), PyTorch's.
        projection_(register_module(
            "projection", std::make_shared<nn::Convolution>(
                              init, 1, config.width, series, 3, 1, 0, false,
                              static_cast<double>(series) / static_cast<double>(3 * config.width)))) {}

  /// x [B, T, D] is replaced by its seasonal part; returns the trend [B, T, N].
  at::Tensor forward(at::Tensor& x, const at::Tensor& encoded) {
    at::Tensor trend;
    const auto decompose = [&](const at::Tensor& y) {
      const at::Tensor average = averaged(*average_, y);
      trend = trend.defined() ? trend + average : average;
      x = y - average;
    };
    decompose(dropout1_->add_to(x, mixing_->forward(x, x)));
    decompose(dropout2_->add_to(x, cross_->forward(x, encoded)));
    decompose(dropout3_->add_to(x, feed_forward_->forward(x)));
    return projection_->forward(circular(trend));
  }

 private:
  std::shared_ptr<nn::Constant> average_;
  std::shared_ptr<StepMixing> mixing_, cross_;
  std::shared_ptr<DecompositionFeedForward> feed_forward_;
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_, dropout3_;
  std::shared_ptr<nn::Convolution> projection_;
};

void DecompositionOptions::fields(Fields& f) {
  f.add("decoder_layers", decoder_layers, "layers of the decoder", {.min = 1, .max = 1000});
  f.add("kernel", kernel, "rows of the moving average, odd", {.min = 1, .max = 100001});
}

int64_t decoder_steps(const ForecastShape& shape) {
  return shape.lookback / 2 + shape.horizon;
}

DecompositionTransformer::DecompositionTransformer(const ForecasterConfig& config, const ForecastShape& shape,
                                                   const DecompositionOptions& options, bool positions,
                                                   nn::Initializer& init)
    : LearnedForecaster(shape, config.window),
      encoder_embedding_(register_module(
          "enc_embedding", std::make_shared<WindowEmbedding>(
                               init, shape, config.width, positions ? shape.lookback : 0, config.dropout))),
      decoder_embedding_(register_module(
          "dec_embedding",
          std::make_shared<WindowEmbedding>(init, shape, config.width, positions ? decoder_steps(shape) : 0,
                                            config.dropout))),
      window_average_(register_module("average", average_of(shape.lookback, options))),
      encoder_(register_module("encoder", std::make_shared<nn::ModuleList<DecompositionEncoderLayer>>())),
      decoder_(register_module("decoder", std::make_shared<nn::ModuleList<DecompositionDecoderLayer>>())),
      encoder_norm_(register_module("encoder_norm", std::make_shared<nn::LayerNorm>(config.width))),
      decoder_norm_(register_module("decoder_norm", std::make_shared<nn::LayerNorm>(config.width))),
      projection_(register_module(
          "projection", std::make_shared<nn::Linear>(init, config.width,
                                                     shape.series_count() * (outputs() / shape.horizon)))) {}

void DecompositionTransformer::build(const ForecasterConfig& config, const DecompositionOptions& options,
                                     nn::Initializer& init, const MakeMixing& encoder,
                                     const MakeMixing& decoder, const MakeMixing& cross) {
  for (int64_t i = 0; i < config.blocks; ++i)
    encoder_->push_back(std::make_shared<DecompositionEncoderLayer>(
        config, average_of(shape().lookback, options), encoder(), init));
  for (int64_t i = 0; i < options.decoder_layers; ++i)
    decoder_->push_back(std::make_shared<DecompositionDecoderLayer>(
        config, shape().series_count(), average_of(decoder_steps(shape()), options), decoder(), cross(),
        init));
}

at::Tensor DecompositionTransformer::raw_forecast(const at::Tensor& values, const ForecastInput& input) {
  const int64_t lookback = shape().lookback, horizon = shape().horizon, half = lookback / 2,
                quantiles = outputs() / horizon;
  const at::Tensor window = values.flatten(1, -2).transpose(1, 2).contiguous();  // [B, L, N]
  const at::Tensor average = averaged(*window_average_, window);
  const auto latest = [&](const at::Tensor& x) { return x.narrow(1, lookback - half, half); };
  const at::Tensor seasonal = at::constant_pad_nd(latest(window - average), {0, 0, 0, horizon});
  at::Tensor trend =
      at::cat({latest(average), window.mean(1, true).expand({window.size(0), horizon, window.size(2)})}, 1);

  const at::Tensor known = known_of(input);
  at::Tensor encoded = encoder_embedding_->forward(window, known, 0);
  for (const auto& layer : *encoder_) encoded = layer->forward(encoded);
  encoded = seasonal_norm(*encoder_norm_, encoded);
  at::Tensor x = decoder_embedding_->forward(seasonal, known, lookback - half);
  for (const auto& layer : *decoder_) trend = trend + layer->forward(x, encoded);
  x = projection_->forward(seasonal_norm(*decoder_norm_, x).narrow(1, half, horizon));

  // The trend is added to the middle quantile alone; the others are differences from it.
  x = x.view({x.size(0), horizon, -1, quantiles});
  trend = trend.narrow(1, half, horizon).unsqueeze(-1);
  x = x + at::constant_pad_nd(trend, {quantiles / 2, quantiles - 1 - quantiles / 2});
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = outputs();
  return x.transpose(1, 2).reshape(sizes);
}

void check_decomposition(const DecompositionOptions& options, const std::string& model,
                         const std::string& source) {
  require(options.kernel % 2 == 1, ErrorKind::config, "{}: {}.kernel must be odd, got {}", source, model,
          options.kernel);
}

nn::ModelCost decomposition_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                 const DecompositionOptions& options, const MixingCost& mixing) {
  nn::CostAccount account(config.precision);
  const int64_t width = config.width, series = shape.series_count(), window = shape.lookback,
                ahead = decoder_steps(shape);
  const auto d = static_cast<double>(width);
  account.layer("embedding");
  add_window_cost(account, config.window, shape);
  for (const int64_t steps : {window, ahead}) add_window_embedding_cost(account, shape, width, steps);
  const auto average = [&](int64_t steps, double channels) {
    account.add("moving averages", 0, static_cast<double>(steps * steps) * channels);
  };
  average(window, static_cast<double>(series));
  const auto feed_forward = [&](int64_t steps) {
    const auto rows = static_cast<double>(steps);
    account.linear("feed-forward", width, config.hidden, rows, false);
    account.linear("feed-forward", config.hidden, width, rows, false);
    account.keep(rows * static_cast<double>(6 * width + 2 * config.hidden));
  };
  for (int64_t i = 0; i < config.blocks; ++i) {
    account.layer("block " + std::to_string(i + 1));
    mixing(account, window, window, false);
    feed_forward(window);
    average(window, 2 * d);
  }
  account.norm(width, static_cast<double>(window));
  for (int64_t i = 0; i < options.decoder_layers; ++i) {
    account.layer("block " + std::to_string(config.blocks + i + 1));
    mixing(account, ahead, ahead, false);
    mixing(account, ahead, window, true);
    feed_forward(ahead);
    average(ahead, 3 * d);
    account.linear("trend", 3 * width, series, static_cast<double>(ahead), false);
  }
  account.norm(width, static_cast<double>(ahead));
  account.layer("head");
  account.linear("head", width, series * (forecast_outputs(shape) / shape.horizon),
                 static_cast<double>(shape.horizon));
  return std::move(account).cost({window});
}

void use_decomposition(ForecasterConfig& config) {
  config.width = 512;
  config.hidden = 2048;
  config.heads = 8;
  config.dropout = 0.1;
  config.window.centre = "none";
  config.window.scale = "none";
}

}  // namespace modewise::models
