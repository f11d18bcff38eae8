#include "modewise/nn/embedding/window_normalization.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <functional>
#include <numeric>

#include "modewise/ops/dense/elementary.h"

namespace modewise::nn {
namespace {

constexpr double kEpsilon = 1e-5;

int64_t product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace

at::Tensor last_observed(const at::Tensor& past, const at::Tensor& observed) {
  const int64_t lookback = past.size(-1);
  if (!observed.defined()) return past.narrow(-1, lookback - 1, 1);
  const at::Tensor steps = at::arange(lookback, observed.options().dtype(at::kLong));
  const at::Tensor last = at::where(observed, steps, at::zeros({}, steps.options())).amax(-1, true);
  return past.gather(-1, last);
}

WindowNormalization::WindowNormalization(std::vector<int64_t> series,
                                         const WindowNormalizationOptions& options)
    : series_(std::move(series)), options_(options) {
  const int64_t count = product(series_);
  if (options_.affine) {
    affine_weight_ = register_parameter("affine_weight", at::ones({count}));
    affine_bias_ = register_parameter("affine_bias", at::zeros({count}));
  }
  if (options_.cycle > 0) cycle_ = register_parameter("cycle", at::zeros({count * options_.cycle}));
}

NormalizedWindow WindowNormalization::normalize(const at::Tensor& past, const at::Tensor& observed,
                                                const at::Tensor& first_step) const {
  NormalizedWindow out;
  out.first_step = first_step;
  out.lookback = past.size(-1);
  const at::Tensor flags = observed.defined() ? observed.to(past.scalar_type()) : at::Tensor();
  const at::Tensor count = flags.defined() ? flags.sum(-1, true).clamp_min(1) : at::Tensor();
  at::Tensor mean;
  if (options_.scale || options_.centre == Centre::mean)
    mean = flags.defined() ? past.sum(-1, true) / count : past.mean(-1, true);
  if (options_.scale) {
    at::Tensor squares = (past - mean).square();
    if (flags.defined()) squares = squares * flags;
    const at::Tensor variance = flags.defined() ? squares.sum(-1, true) / count : squares.mean(-1, true);
    out.stddev = ops::elementary(variance + kEpsilon, "sqrt");
  }
  if (options_.centre == Centre::mean) out.centre = mean;
  if (options_.centre == Centre::last) out.centre = last_observed(past, observed);

  at::Tensor values = past;
  if (out.centre.defined()) values = values - out.centre;
  if (out.stddev.defined()) values = values / out.stddev;
  if (options_.affine) values = values * per_series(affine_weight_) + per_series(affine_bias_);
  if (options_.cycle > 0) values = values - cycle_at(first_step, 0, out.lookback);
  if (flags.defined()) values = values * flags;
  out.values = values;
  return out;
}

at::Tensor WindowNormalization::denormalize(const at::Tensor& forecast,
                                            const NormalizedWindow& window) const {
  at::Tensor out = forecast;
  if (options_.cycle > 0) out = out + cycle_at(window.first_step, window.lookback, forecast.size(-1));
  if (options_.affine)
    out = (out - per_series(affine_bias_)) / (per_series(affine_weight_) + kEpsilon * kEpsilon);
  if (window.stddev.defined()) out = out * window.stddev;
  if (window.centre.defined()) out = out + window.centre;
  return out;
}

at::Tensor WindowNormalization::denormalize_differences(const at::Tensor& differences,
                                                        const NormalizedWindow& window) const {
  // The affine weight may be negative; quantile differences must keep their sign, so they skip it.
  return window.stddev.defined() ? differences * window.stddev.unsqueeze(-1) : differences;
}

void WindowNormalization::set_cycle(const at::Tensor& profile) {
  at::NoGradGuard no_grad;
  cycle_.copy_((profile / options_.cycle_gain).flatten(1).t().reshape({-1}));
}

at::Tensor WindowNormalization::cycle_at(const at::Tensor& first_step, int64_t offset, int64_t count) const {
  const int64_t batch = first_step.size(0), series = product(series_);
  const at::Tensor steps = first_step.unsqueeze(1) + at::arange(offset, offset + count, first_step.options());
  const at::Tensor rows = steps.remainder(options_.cycle).unsqueeze(1).expand({batch, series, count});
  // The gradient of gather is summed one series at a time, for any number of threads.
  const at::Tensor profile = (cycle_ * options_.cycle_gain).view({1, series, options_.cycle});
  std::vector<int64_t> sizes{batch};
  sizes.insert(sizes.end(), series_.begin(), series_.end());
  sizes.push_back(count);
  return profile.expand({batch, series, options_.cycle}).gather(-1, rows).view(sizes);
}

at::Tensor WindowNormalization::per_series(const at::Tensor& parameter) const {
  std::vector<int64_t> sizes = series_;
  sizes.push_back(1);
  return parameter.view(sizes);
}

}  // namespace modewise::nn
