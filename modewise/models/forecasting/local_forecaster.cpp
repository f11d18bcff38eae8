#include "modewise/models/forecasting/local_forecaster.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/normal_levels.h"
#include "modewise/models/forecasting/unscaled.h"

namespace modewise::models {
namespace {

constexpr int64_t kFittedRows = 1000, kFittedPeriods = 3;

/// Fills gaps by linear interpolation, and the ends with the nearest observed row. Returns false if no row
/// was observed.
bool close_gaps(std::span<double> rows, const bool* observed) {
  const auto count = std::ssize(rows);
  int64_t last = -1;
  for (int64_t t = 0; t < count; ++t) {
    if (!observed[t]) continue;
    const double to = rows[static_cast<size_t>(t)];
    const double from = last < 0 ? to : rows[static_cast<size_t>(last)];
    for (int64_t gap = last + 1; gap < t; ++gap)
      rows[static_cast<size_t>(gap)] =
          from + (to - from) * static_cast<double>(gap - last) / static_cast<double>(t - last);
    last = t;
  }
  if (last < 0) return false;
  std::fill(rows.begin() + last, rows.end(), rows[static_cast<size_t>(last)]);
  return true;
}

}  // namespace

LocalForecaster::LocalForecaster(const ForecastShape& shape, int64_t period)
    : Forecaster(shape),
      period_(period),
      mean_(register_buffer("mean", at::zeros(shape.series, at::kDouble))),
      stddev_(register_buffer("deviation", at::ones(shape.series, at::kDouble))),
      levels_(levels_of(shape)),
      normal_(normal_quantiles(levels_)) {}

at::Tensor LocalForecaster::forward(const ForecastInput& input) {
  const at::NoGradGuard no_grad;
  const at::Tensor checked = checked_past(input);
  const int64_t lookback = shape().lookback, series = shape().series_count();
  std::vector<int64_t> sizes = checked.sizes().vec();
  sizes.back() = shape().horizon;
  if (!levels_.empty()) sizes.push_back(std::ssize(levels_));
  if (checked.is_meta()) return at::empty(sizes, checked.options());
  const at::Tensor past = checked.to(at::kCPU, at::kFloat).contiguous();
  const at::Tensor observed =
      input.observed.defined() ? input.observed.to(at::kCPU).contiguous() : at::Tensor();
  const at::Tensor out = at::zeros(sizes, at::kDouble);
  const int64_t steps = out.numel() / std::max<int64_t>(past.numel() / lookback, 1);
  const double *means = mean_.const_data_ptr<double>(), *stddevs = stddev_.const_data_ptr<double>();
  const auto* values = past.const_data_ptr<float>();
  double* forecasts = out.mutable_data_ptr<double>();
  at::parallel_for(0, past.numel() / lookback, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> history(static_cast<size_t>(lookback));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t s = i % series;
      for (int64_t t = 0; t < lookback; ++t)
        history[static_cast<size_t>(t)] = unscaled(values[i * lookback + t], means[s], stddevs[s]);
      if (observed.defined() && !close_gaps(history, observed.const_data_ptr<bool>() + i * lookback))
        continue;  // nothing observed: 0, the training mean
      const std::span<double> mine(forecasts + i * steps, static_cast<size_t>(steps));
      forecast(s, history, mine);
      for (double& value : mine) value = (value - means[s]) / stddevs[s];
    }
  });
  return out.to(input.past.options());
}

void LocalForecaster::fit(const FittingRows& rows) {
  const at::NoGradGuard no_grad;
  mean_.copy_(rows.mean);
  stddev_.copy_(rows.stddev);
  const int64_t first = std::max(rows.first, rows.last - std::max(kFittedRows, kFittedPeriods * period_)),
                count = rows.last - first;
  if (count <= 0) return;
  const auto cut = [&](const at::Tensor& x) {
    return x.defined() ? x.narrow(-1, first, count).reshape({-1, count}).contiguous() : x;
  };
  const at::Tensor values = cut(rows.values), observed = cut(rows.observed);
  const double *means = mean_.const_data_ptr<double>(), *stddevs = stddev_.const_data_ptr<double>();
  at::parallel_for(0, shape().series_count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      std::vector<double> history(static_cast<size_t>(count));
      for (int64_t t = 0; t < count; ++t)
        history[static_cast<size_t>(t)] =
            unscaled(values.const_data_ptr<float>()[s * count + t], means[s], stddevs[s]);
      if (observed.defined() && !close_gaps(history, observed.const_data_ptr<bool>() + s * count)) continue;
      fit_series(s, history);
    }
  });
}

void LocalForecaster::write_normal(const StepForecast& steps, std::span<double> out) const {
  if (normal_.empty()) {
    std::copy(steps.mean.begin(), steps.mean.end(), out.begin());
    return;
  }
  size_t at = 0;
  for (size_t step = 0; step < steps.mean.size(); ++step)
    for (const double quantile : normal_) out[at++] = steps.mean[step] + quantile * steps.stddev[step];
}

}  // namespace modewise::models
