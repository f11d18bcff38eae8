#include "modewise/models/forecasting/linear_forecasters.h"

#include <ATen/ops/cat.h>

namespace modewise::models {
namespace {

/// The authors' window normalization, and the cycle if configured.
WindowConfig window_of(const ForecasterConfig& config) {
  WindowConfig out = config.window;
  out.affine = false;
  out.centre = "none";
  out.scale = "none";
  if (config.name == "nlinear") out.centre = "last";
  if (config.name == "rlinear") {
    out.centre = "mean";
    out.scale = "std";
    out.affine = config.window.affine;
  }
  return out;
}

std::shared_ptr<nn::SeriesLinear> make_linear(const ForecasterConfig& config, const ForecastShape& shape,
                                              int64_t outputs, nn::Initializer& init) {
  auto out = std::make_shared<nn::SeriesLinear>(init, config.individual ? shape.series_count() : 0,
                                                shape.lookback, outputs);
  if (config.weight_init == "average") out->set_weights(1.0 / static_cast<double>(shape.lookback));
  return out;
}

/// Centred moving average over `kernel` steps of [..., L], with replicate padding.
at::Tensor moving_average(const at::Tensor& x, int64_t kernel) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = kernel / 2;
  const at::Tensor front = x.narrow(-1, 0, 1).expand(sizes);
  const at::Tensor back = x.narrow(-1, x.size(-1) - 1, 1).expand(sizes);
  return at::cat({front, x, back}, -1).unfold(-1, kernel, 1).mean(-1);
}

}  // namespace

DLinear::DLinear(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
    : LearnedForecaster(shape, window_of(config)),
      kernel_(config.dlinear.kernel),
      seasonal_(register_module("Linear_Seasonal", make_linear(config, shape, outputs(), init))),
      trend_(register_module("Linear_Trend", make_linear(config, shape, outputs(), init))) {}

at::Tensor DLinear::raw_forecast(const at::Tensor& values, const ForecastInput&) {
  const at::Tensor trend = moving_average(values, kernel_);
  return seasonal_->forward(values - trend) + trend_->forward(trend);
}

LinearForecaster::LinearForecaster(const ForecasterConfig& config, const ForecastShape& shape,
                                   nn::Initializer& init)
    : LearnedForecaster(shape, window_of(config)),
      dropout_(register_module(
          "dropout", std::make_shared<nn::Dropout>(init, config.name == "rlinear" ? config.dropout : 0.0))),
      linear_(register_module("Linear", make_linear(config, shape, outputs(), init))) {}

at::Tensor LinearForecaster::raw_forecast(const at::Tensor& values, const ForecastInput&) {
  return linear_->forward(dropout_->forward(values));
}

}  // namespace modewise::models
