#include "modewise/models/forecast/learned_forecaster.h"

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/nn/quantiles.h"

namespace modewise::models {
namespace {

nn::WindowNormalizationOptions options_of(const WindowConfig& config) {
  nn::WindowNormalizationOptions out;
  out.centre = config.centre == "mean"   ? nn::Centre::mean
               : config.centre == "last" ? nn::Centre::last
                                         : nn::Centre::none;
  out.scale = config.scale == "deviation";
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

nn::NormalizedWindow LearnedForecaster::normalized(const ForecastInput& input) const {
  return window_->normalize(checked_past(input), input.observed, input.first_step);
}

void LearnedForecaster::start_cycle(const at::Tensor& profile) {
  window_->set_cycle(profile);
}

at::Tensor LearnedForecaster::forward(const ForecastInput& input) {
  const nn::NormalizedWindow window = normalized(input);
  const at::Tensor raw = raw_forecast(window.values, input.observed).to(input.past.scalar_type());
  if (shape().quantiles == 0) return window_->denormalize(raw, window);
  std::vector<int64_t> sizes = raw.sizes().vec();
  sizes.back() = shape().horizon;
  sizes.push_back(shape().quantiles);
  const nn::QuantileParts parts = nn::split_quantiles(raw.view(sizes));
  return window_->denormalize(parts.middle, window).unsqueeze(-1) +
         window_->denormalize_differences(parts.differences, window);
}

}  // namespace modewise::models
