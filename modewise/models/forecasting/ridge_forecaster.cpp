#include "modewise/models/forecasting/ridge_forecaster.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "modewise/models/forecasting/normal_levels.h"
#include "modewise/models/symmetric_eigen.h"
#include "modewise/ops/dense/linear.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::models {
namespace {

struct RidgeConfig {
  double penalty = 0;  // 0: chosen on the validation split
  void fields(Fields& fields);
};

void RidgeConfig::fields(Fields& f) {
  f.add("penalty", penalty,
        "penalty, in units of the mean square of a lag times the number of windows; 0: lowest "
        "validation error",
        {.min = 0, .max = 1e9});
}

/// Σ z zᵀ and Σ z as tensors, split into lags x and steps y.
struct Blocks {
  Blocks(const WindowSums& sums, int64_t lookback) : count(sums.count) {
    const int64_t size = sums.size, horizon = size - lookback;
    // from_blob needs non-const memory; nothing writes to it.
    const at::Tensor all =
        at::from_blob(const_cast<double*>(sums.products.data()), {size, size}, at::kDouble);
    const at::Tensor each = at::from_blob(const_cast<double*>(sums.sums.data()), {size}, at::kDouble);
    xx = all.narrow(0, 0, lookback).narrow(1, 0, lookback).clone();
    xy = all.narrow(0, 0, lookback).narrow(1, lookback, horizon).clone();
    yy = all.narrow(0, lookback, horizon).narrow(1, lookback, horizon).diagonal().clone();
    x = each.narrow(0, 0, lookback).clone();
    y = each.narrow(0, lookback, horizon).clone();
  }
  double count;
  at::Tensor xx, xy, yy, x, y;  // [L, L], [L, H], [H], [L], [H]
};

std::vector<double> window_weights(const std::string& centre, int64_t lookback, int64_t size) {
  std::vector<double> weights(static_cast<size_t>(size));
  if (centre == "last") weights[static_cast<size_t>(lookback - 1)] = 1;
  if (centre == "mean") std::fill_n(weights.begin(), lookback, 1 / static_cast<double>(lookback));
  return weights;
}

nn::WindowNormalizationOptions normalization(const std::string& centre) {
  nn::WindowNormalizationOptions out;
  out.centre = centre == "mean" ? nn::Centre::mean : centre == "last" ? nn::Centre::last : nn::Centre::none;
  out.scale = false;
  return out;
}

/// Filters window `starts`: windows in which every cell of the series was observed.
std::vector<int64_t> whole_windows(std::span<const int64_t> starts, const bool* observed, int64_t rows,
                                   int64_t size) {
  if (observed == nullptr) return {starts.begin(), starts.end()};
  std::vector<int64_t> seen(static_cast<size_t>(rows + 1)), whole;
  for (int64_t t = 0; t < rows; ++t)
    seen[static_cast<size_t>(t + 1)] = seen[static_cast<size_t>(t)] + (observed[t] ? 1 : 0);
  for (const int64_t start : starts)
    if (seen[static_cast<size_t>(start + size)] - seen[static_cast<size_t>(start)] == size)
      whole.push_back(start);
  return whole;
}

/// Logs to how many of `all` training windows a map is fitted, if some have missing cells; a warning for less
/// than half of them.
void log_whole_windows(size_t whole, size_t all, bool of_one_series) {
  if (whole == all) return;
  const std::string text =
      fmt::format("ridge is fitted to {} of {} training windows{}: those with a missing cell are left out",
                  whole, all, of_one_series ? " of the series with the fewest" : "");
  if (2 * whole >= all)
    spdlog::info("{}", text);
  else
    spdlog::warn(
        "{}; {}dlinear and hot train on windows with missing cells, and a shorter lookback leaves more", text,
        whole == 0 ? "it forecasts as repeat does; " : "");
}

/// The maps are fitted: they count as parameters, though no gradient changes them.
nn::ModelCost ridge_cost(const ForecasterConfig& config, const ForecastShape& shape,
                         Projection /*projection*/) {
  nn::CostAccount account;
  account.layer("linear");
  const int64_t series = shape.series_count(), maps = config.individual ? series : 1;
  account.add("linear", maps * (shape.lookback + 1) * shape.horizon,
              static_cast<double>(series * shape.lookback * shape.horizon));
  return std::move(account).cost({});
}

void use_ridge(ForecasterConfig& config) {
  config.window.centre = "last";
  config.window.scale = "none";
}

}  // namespace

std::vector<RidgeMap> ridge_maps(const WindowSums& sums, int64_t lookback, std::span<const double> alphas) {
  const Blocks blocks(sums, lookback);
  const int64_t horizon = blocks.y.size(0);
  const at::TensorOptions options = blocks.x.options();
  if (sums.count == 0)
    return std::vector<RidgeMap>(alphas.size(),
                                 {at::zeros({horizon, lookback}, options), at::zeros({horizon}, options)});
  const at::Tensor x = blocks.x / sums.count, y = blocks.y / sums.count;
  const SymmetricEigen eigen = symmetric_eigen(blocks.xx - at::outer(x, x) * sums.count);
  const at::Tensor rotated =
      ops::matmul(eigen.vectors.t(), blocks.xy - at::outer(x, y) * sums.count);  // [L, H]
  std::vector<RidgeMap> maps;
  for (const double alpha : alphas) {
    const at::Tensor shrunk = rotated / (eigen.values.clamp_min(0) + alpha).unsqueeze(1);
    const at::Tensor weight = ops::matmul(eigen.vectors, shrunk).t().contiguous();
    maps.push_back({weight, y - ops::matmul(weight, x.unsqueeze(1)).squeeze(1)});
  }
  return maps;
}

at::Tensor squared_errors(const WindowSums& sums, const RidgeMap& map) {
  const Blocks blocks(sums, map.weight.size(1));
  const at::Tensor w = map.weight.t(), b = map.bias;  // [L, H], [H]
  const at::Tensor mixed = ops::matmul(blocks.xx, w) - 2 * blocks.xy;
  const at::Tensor rest = blocks.y - (w * blocks.x.unsqueeze(1)).sum(0);  // Σ (y − Wx)
  return blocks.yy + (w * mixed).sum(0) - 2 * b * rest + b.square() * sums.count;
}

RidgeForecaster::RidgeForecaster(const ForecasterConfig& config, const ForecastShape& shape,
                                 nn::Initializer& /*init*/)
    : Forecaster(shape),
      centre_(config.window.centre == "auto" ? "last" : config.window.centre),
      individual_(config.individual),
      penalty_(config.own.of<RidgeConfig>().penalty),
      window_(register_module(
          "window", std::make_shared<nn::WindowNormalization>(shape.series, normalization(centre_)))) {
  const int64_t maps = individual_ ? shape.series_count() : 1;
  weight_ = register_buffer("weight", at::zeros({maps, shape.horizon, shape.lookback}));
  bias_ = register_buffer("bias", at::zeros({maps, shape.horizon}));
  stddev_ = register_buffer("deviation", at::zeros({maps, shape.horizon}));
  penalties_ = register_buffer("penalties", at::zeros({maps}, at::kDouble));
  if (shape.quantiles > 0)
    normal_ = register_buffer("normal", at::tensor(normal_quantiles(levels_of(shape)), at::kDouble));
}

void RidgeForecaster::fit_map(int64_t map, WindowSums training, WindowSums validation) {
  const int64_t lookback = shape().lookback;
  const std::vector<double> weights = window_weights(centre_, lookback, training.size);
  training.centre(weights);
  validation.centre(weights);
  double unit = 0;
  for (int64_t i = 0; i < lookback; ++i) unit += training.product(i, i) / static_cast<double>(lookback);
  unit = std::max(unit, std::numeric_limits<double>::min());
  std::vector<double> penalties = {penalty_};
  if (penalty_ == 0) {
    penalties.clear();
    for (int half = -12; half <= 4; ++half) penalties.push_back(std::pow(10.0, half / 2.0));
  }
  std::vector<double> alphas;
  for (const double penalty : penalties) alphas.push_back(penalty * unit);
  const std::vector<RidgeMap> candidates = ridge_maps(training, lookback, alphas);
  const WindowSums& evaluate = validation.count > 0 ? validation : training;
  size_t best = 0;
  double minimum = std::numeric_limits<double>::infinity();
  at::Tensor errors;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const at::Tensor squares = squared_errors(evaluate, candidates[i]);
    if (const double sum = squares.sum().item<double>(); sum < minimum)
      minimum = sum, best = i, errors = squares;
  }
  weight_[map].copy_(candidates[best].weight);
  bias_[map].copy_(candidates[best].bias);
  penalties_[map] = penalties[best];
  if (errors.defined() && evaluate.count > 0)
    stddev_[map].copy_((errors.clamp_min(0) / evaluate.count).sqrt());
}

void RidgeForecaster::fit(const FittingRows& rows) {
  const at::NoGradGuard no_grad;
  const int64_t series = shape().series_count(), size = shape().lookback + shape().horizon,
                count = rows.values.size(-1);
  const at::Tensor values = rows.values.reshape({series, count}).contiguous();
  const at::Tensor observed =
      rows.observed.defined() ? rows.observed.reshape({series, count}).contiguous() : at::Tensor();
  WindowSums training(size), validation(size);
  size_t whole = 0, fewest = rows.training.size();
  for (int64_t s = 0; s < series; ++s) {
    const std::span<const float> row(values.const_data_ptr<float>() + s * count, static_cast<size_t>(count));
    const bool* seen = observed.defined() ? observed.const_data_ptr<bool>() + s * count : nullptr;
    const std::vector<int64_t> used = whole_windows(rows.training, seen, count, size);
    whole += used.size();
    fewest = std::min(fewest, used.size());
    training.add(row, used);
    validation.add(row, whole_windows(rows.validation, seen, count, size));
    if (!individual_) continue;
    fit_map(s, std::move(training), std::move(validation));
    training = WindowSums(size), validation = WindowSums(size);
  }
  if (individual_) return log_whole_windows(fewest, rows.training.size(), true);
  fit_map(0, std::move(training), std::move(validation));
  log_whole_windows(whole, rows.training.size() * static_cast<size_t>(series), false);
}

at::Tensor RidgeForecaster::forward(const ForecastInput& input) {
  const nn::NormalizedWindow window =
      window_->normalize(checked_past(input), input.observed, input.first_step);
  const at::Tensor& x = window.values;
  const at::Tensor weight = weight_.to(x.scalar_type()), bias = bias_.to(x.scalar_type());
  at::Tensor stddev = stddev_.to(x.scalar_type());
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = shape().horizon;
  at::Tensor raw;
  if (individual_) {
    const at::Tensor by_series = x.flatten(1, -2).transpose(0, 1);  // [S, B, L]
    raw = (ops::matmul(by_series, weight.transpose(1, 2)).transpose(0, 1) + bias).reshape(sizes);
    stddev = stddev.reshape(at::IntArrayRef(sizes).slice(1));
  } else {
    raw = ops::linear(x, weight.squeeze(0), bias.squeeze(0));
    stddev = stddev.squeeze(0);
  }
  const at::Tensor mean = window_->denormalize(raw, window);
  if (!normal_.defined()) return mean;
  return mean.unsqueeze(-1) +
         stddev.unsqueeze(-1) * normal_.to(x.scalar_type());  // [H, Q] or [N_1…N_j, H, Q] for each window
}

ForecasterRow ridge_row() {
  return {.name = "ridge",
          .shared = {"individual", "window.centre"},
          .make = make_model<RidgeForecaster>,
          .cost = ridge_cost,
          .defaults = use_ridge,
          .own = own_options<RidgeConfig>};
}

}  // namespace modewise::models
