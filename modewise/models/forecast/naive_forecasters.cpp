#include "modewise/models/forecast/naive_forecasters.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>

#include <algorithm>

#include "modewise/nn/window_normalization.h"

namespace modewise::models {
namespace {

std::vector<int64_t> with_last(at::IntArrayRef sizes, int64_t last) {
  std::vector<int64_t> out = sizes.vec();
  out.back() = last;
  return out;
}

/// [..., H] -> [..., H, Q] with all levels alike, when the shape has quantiles.
at::Tensor with_levels(const at::Tensor& point, const ForecastShape& shape) {
  if (shape.quantiles == 0) return point;
  std::vector<int64_t> sizes = point.sizes().vec();
  sizes.push_back(shape.quantiles);
  return point.unsqueeze(-1).expand(sizes).contiguous();
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
  at::Tensor season =
      nn::last_observed(past, input.observed).expand(with_last(past.sizes(), period_)).clone();
  // From the oldest season to the newest, each overwriting where it was observed; the oldest may be cut.
  for (int64_t age = (lookback - 1) / period_; age >= 0; --age) {
    const int64_t begin = lookback - (age + 1) * period_;
    const int64_t from = std::max<int64_t>(begin, 0), count = begin + period_ - from;
    const at::Tensor cells = past.narrow(-1, from, count);
    at::Tensor target = season.narrow(-1, from - begin, count);
    target.copy_(input.observed.defined() ? at::where(input.observed.narrow(-1, from, count), cells, target)
                                          : cells);
  }
  const at::Tensor phases = at::arange(shape().horizon, past.options().dtype(at::kLong)).remainder(period_);
  return with_levels(season.index_select(-1, phases), shape());
}

}  // namespace modewise::models
