// Naive forecasters without parameters, as baselines.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/nn/embedding/window_normalization.h"

namespace modewise::models {
namespace {

/// Naive method: repeats the last observed value of each series; 0 (the training mean) if nothing was
/// observed. All quantiles are equal to it.
class RepeatForecaster : public Forecaster {
 public:
  explicit RepeatForecaster(const ForecastShape& shape) : Forecaster(shape) {}
  at::Tensor forward(const ForecastInput& input) override;
  bool local() const override { return true; }
};

/// Seasonal naive method: the value of the same phase in the newest season in which it was observed; else as
/// repeat. With drift (Hyndman and Athanasopoulos, Forecasting: Principles and Practice, 5.2), each season
/// between a value and its forecast adds the mean change from one season of the window to the next, over
/// cells observed in both; 0 if there are none. Period 1 gives the drift method: the line through first and
/// last value.
class SeasonalForecaster : public Forecaster {
 public:
  SeasonalForecaster(const ForecastShape& shape, int64_t period, bool drift = false)
      : Forecaster(shape), period_(period), drift_(drift) {}
  at::Tensor forward(const ForecastInput& input) override;
  bool local() const override { return true; }

 private:
  int64_t period_;
  bool drift_;
};

std::vector<int64_t> with_last(at::IntArrayRef sizes, int64_t last) {
  std::vector<int64_t> out = sizes.vec();
  out.back() = last;
  return out;
}

/// [..., H] -> [..., H, Q] with equal quantiles, if the shape has quantiles.
at::Tensor with_levels(const at::Tensor& point, const ForecastShape& shape) {
  if (shape.quantiles == 0) return point;
  std::vector<int64_t> sizes = point.sizes().vec();
  sizes.push_back(shape.quantiles);
  return point.unsqueeze(-1).expand(sizes).contiguous();
}

/// Mean of x_t − x_{t−period} over t with both observed, [..., 1]; 0 if there are none. Sums run over time
/// only, so they do not depend on the number of threads.
at::Tensor mean_step(const at::Tensor& past, const at::Tensor& observed, int64_t period) {
  const int64_t count = past.size(-1) - period;
  if (count == 0) return at::zeros(with_last(past.sizes(), 1), past.options());
  const at::Tensor steps = past.narrow(-1, period, count) - past.narrow(-1, 0, count);
  if (!observed.defined()) return steps.mean(-1, true);
  const at::Tensor both = observed.narrow(-1, period, count).logical_and(observed.narrow(-1, 0, count));
  return at::where(both, steps, at::zeros({}, steps.options())).sum(-1, true) /
         both.sum(-1, true).clamp_min(1);
}

at::Tensor RepeatForecaster::forward(const ForecastInput& input) {
  const at::Tensor past = checked_past(input);
  const at::Tensor last = nn::last_observed(past, input.observed);
  return with_levels(last.expand(with_last(past.sizes(), shape().horizon)).contiguous(), shape());
}

at::Tensor SeasonalForecaster::forward(const ForecastInput& input) {
  const at::Tensor past = checked_past(input);
  const int64_t lookback = shape().lookback;
  const at::Tensor drift = drift_ ? mean_step(past, input.observed, period_) : at::Tensor();
  at::Tensor season =
      nn::last_observed(past, input.observed).expand(with_last(past.sizes(), period_)).clone();
  // From the oldest season (possibly partial) to the newest, each overwrites where it was observed.
  for (int64_t age = (lookback - 1) / period_; age >= 0; --age) {
    const int64_t begin = lookback - (age + 1) * period_;
    const int64_t from = std::max<int64_t>(begin, 0), count = begin + period_ - from;
    at::Tensor cells = past.narrow(-1, from, count);
    if (drift_ && age > 0) cells = cells + drift * static_cast<double>(age);
    at::Tensor target = season.narrow(-1, from - begin, count);
    target.copy_(input.observed.defined() ? at::where(input.observed.narrow(-1, from, count), cells, target)
                                          : cells);
  }
  const at::Tensor steps = at::arange(shape().horizon, past.options().dtype(at::kLong));
  at::Tensor forecast = season.index_select(-1, steps.remainder(period_));
  if (drift_) forecast = forecast + drift * (steps.floor_divide(period_) + 1);
  return with_levels(forecast, shape());
}

void check_period(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  require(config.season() <= shape.lookback, ErrorKind::config,
          "{}: period = {} is longer than the lookback of {} rows", source, config.season(), shape.lookback);
}

template <bool kDrift>
std::shared_ptr<Forecaster> make_seasonal(const ForecasterConfig& config, const ForecastShape& shape,
                                          nn::Initializer& /*init*/) {
  return std::make_shared<SeasonalForecaster>(shape, config.season(), kDrift);
}

std::shared_ptr<Forecaster> make_repeat(const ForecasterConfig& /*config*/, const ForecastShape& shape,
                                        nn::Initializer& /*init*/) {
  return std::make_shared<RepeatForecaster>(shape);
}

}  // namespace

ForecasterRow seasonal_row() {
  return {.name = "seasonal", .shared = {"period"}, .make = make_seasonal<false>, .check = check_period};
}

ForecasterRow seasonal_drift_row() {
  return {.name = "seasonal-drift", .shared = {"period"}, .make = make_seasonal<true>, .check = check_period};
}

ForecasterRow repeat_row() {
  return {.name = "repeat", .make = make_repeat};
}

}  // namespace modewise::models
