#include "modewise/models/forecasting/naive_forecasters.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "modewise/nn/embedding/window_normalization.h"

namespace modewise::models {
namespace {

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

}  // namespace

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

}  // namespace modewise::models
