#include "modewise/models/forecasting/learned_forecaster.h"

#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/nn/layers/quantiles.h"

namespace modewise::models {
namespace {

nn::WindowNormalizationOptions options_of(const WindowConfig& config) {
  nn::WindowNormalizationOptions out;
  out.centre = config.centre == "last"   ? nn::Centre::last
               : config.centre == "none" ? nn::Centre::none
                                         : nn::Centre::mean;
  out.scale = config.scale == "std";
  out.affine = config.affine;
  out.cycle = config.cycle;
  out.cycle_gain = config.cycle_gain;
  return out;
}

}  // namespace

LearnedForecaster::LearnedForecaster(const ForecastShape& shape, const WindowConfig& window)
    : Forecaster(shape),
      window_(register_module("window",
                              std::make_shared<nn::WindowNormalization>(shape.series, options_of(window)))),
      cycle_to_start_(window.cycle_start == "profile" ? window.cycle : 0) {}

int64_t LearnedForecaster::outputs() const {
  return shape().horizon * std::max<int64_t>(1, shape().quantiles);
}

void LearnedForecaster::add_future_covariate_effect(nn::Initializer& init,
                                                    const FutureCovariateConfig& config) {
  if (shape().known == 0) return;
  future_covariate_effect_ =
      register_module("known", std::make_shared<nn::FutureCovariateEffect>(
                                   init, shape().series, shape().known_modes, shape().known, config.width));
}

at::Tensor LearnedForecaster::future_covariate_effect(const ForecastInput& input) const {
  if (!future_covariate_effect_) return {};
  return future_covariate_effect_->forward(checked_known(input).to(input.past.scalar_type()));
}

at::Tensor LearnedForecaster::known_of(const ForecastInput& input) const {
  return shape().known > 0 ? checked_known(input) : at::Tensor();
}

nn::NormalizedWindow LearnedForecaster::normalized(const ForecastInput& input) const {
  return normalized(input, future_covariate_effect(input));
}

nn::NormalizedWindow LearnedForecaster::normalized(const ForecastInput& input,
                                                   const at::Tensor& effect) const {
  at::Tensor past = checked_past(input);
  if (effect.defined()) {
    past = past - effect.narrow(-1, 0, shape().lookback);
    if (input.observed.defined()) past = at::where(input.observed, past, at::zeros({}, past.options()));
  }
  return window_->normalize(past, input.observed, input.first_step);
}

void LearnedForecaster::start_cycle(const at::Tensor& profile) {
  window_->set_cycle(profile);
}

at::Tensor LearnedForecaster::forward(const ForecastInput& input) {
  const at::Tensor effect = future_covariate_effect(input);
  const nn::NormalizedWindow window = normalized(input, effect);
  std::vector<int64_t> sizes = window.values.sizes().vec();
  sizes.back() = outputs();
  // Not every core network takes a batch without windows.
  const at::Tensor raw = sizes[0] == 0 ? at::zeros(sizes, input.past.options())
                                       : raw_forecast(window.values, input).to(input.past.scalar_type());
  const auto in_scale = [&](const at::Tensor& forecast) {
    const at::Tensor out = window_->denormalize(forecast, window);
    return effect.defined() ? out + effect.narrow(-1, shape().lookback, shape().horizon) : out;
  };
  if (shape().quantiles == 0) return in_scale(raw);
  sizes.back() = shape().horizon;
  sizes.push_back(shape().quantiles);
  const nn::QuantileParts parts = nn::split_quantiles(raw.view(sizes));
  return in_scale(parts.middle).unsqueeze(-1) + window_->denormalize_differences(parts.differences, window);
}

}  // namespace modewise::models
