// Linear baselines: DLinear and NLinear (Zeng et al., AAAI 2023), RLinear (Li et al. 2023, arXiv 2305.10721).

#include <ATen/ops/cat.h>

#include <memory>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/embedding/series_linear.h"
#include "modewise/nn/layers/dropout.h"

namespace modewise::models {
namespace {

struct DLinearConfig {
  int64_t kernel = 25;  // rows of the moving average, odd
  void fields(Fields& fields);
};

void DLinearConfig::fields(Fields& f) {
  f.add("kernel", kernel, "rows of the moving average, odd", {.min = 1, .max = 100001});
}

/// Decomposition into a moving average (replicate padding) and the remainder, with one linear layer each; no
/// normalization.
class DLinear : public LearnedForecaster {
 public:
  DLinear(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  int64_t kernel_;
  std::shared_ptr<nn::SeriesLinear> seasonal_, trend_;
};

/// One linear layer over the normalized window: NLinear subtracts the last value; RLinear uses RevIN, then
/// dropout.
class LinearForecaster : public LearnedForecaster {
 public:
  LinearForecaster(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::SeriesLinear> linear_;
};

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

DLinear::DLinear(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
    : LearnedForecaster(shape, window_of(config)),
      kernel_(config.own.of<DLinearConfig>().kernel),
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

void check_kernel(const ForecasterConfig& config, const ForecastShape& /*shape*/, const std::string& source) {
  const int64_t kernel = config.own.of<DLinearConfig>().kernel;
  require(kernel % 2 == 1, ErrorKind::config, "{}: dlinear.kernel must be odd, got {}", source, kernel);
}

void use_rlinear(ForecasterConfig& config) {
  config.window.affine = true;
}

/// Linear maps from the window to the forecast, one per branch.
nn::ModelCost linear_branches_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                   int64_t branches) {
  nn::CostAccount account(config.precision);
  account.layer("linear");
  const int64_t maps = config.individual ? shape.series_count() : 1;
  const auto series = static_cast<double>(shape.series_count());
  add_window_cost(account, config.window, shape);
  account.add("linear", branches * maps * (shape.lookback + 1) * forecast_outputs(shape),
              static_cast<double>(branches * shape.lookback * forecast_outputs(shape)) * series);
  account.keep(series * static_cast<double>(branches * shape.lookback));
  return std::move(account).cost({});
}

nn::ModelCost dlinear_cost(const ForecasterConfig& config, const ForecastShape& shape,
                           Projection /*projection*/) {
  return linear_branches_cost(config, shape, 2);
}

nn::ModelCost linear_forecaster_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                     Projection /*projection*/) {
  return linear_branches_cost(config, shape, 1);
}

}  // namespace

ForecasterRow dlinear_row() {
  return {.name = "dlinear",
          .shared = {"individual", "weight_init", "window.cycle", "window.cycle_gain", "window.cycle_start"},
          .make = make_model<DLinear>,
          .cost = dlinear_cost,
          .check = check_kernel,
          .own = own_options<DLinearConfig>};
}

ForecasterRow nlinear_row() {
  return {.name = "nlinear",
          .shared = {"individual", "weight_init", "window.cycle", "window.cycle_gain", "window.cycle_start"},
          .make = make_model<LinearForecaster>,
          .cost = linear_forecaster_cost};
}

ForecasterRow rlinear_row() {
  return {.name = "rlinear",
          .shared = {"individual", "dropout", "window.affine", "window.cycle", "window.cycle_gain",
                     "window.cycle_start"},
          .make = make_model<LinearForecaster>,
          .cost = linear_forecaster_cost,
          .defaults = use_rlinear};
}

}  // namespace modewise::models
