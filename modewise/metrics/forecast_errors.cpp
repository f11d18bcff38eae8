#include "modewise/metrics/forecast_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/metrics/json_number.h"

namespace modewise::metrics {
namespace {

double smape_term(double truth, double forecast) {
  const double size = std::abs(truth) + std::abs(forecast);
  return size > 0 ? 200 * std::abs(truth - forecast) / size : 0;
}

/// JSON has no NaN: a mean over nothing is null.
}  // namespace

ForecastErrors::ForecastErrors(int64_t series, int64_t horizon, std::vector<double> mean,
                               std::vector<double> stddev, std::vector<double> levels)
    : series_(series),
      horizon_(horizon),
      mean_(std::move(mean)),
      stddev_(std::move(stddev)),
      levels_(std::move(levels)) {
  require(std::ssize(mean_) == series && std::ssize(stddev_) == series, ErrorKind::internal,
          "ForecastErrors: {} series, but {} means and {} standard deviations", series, mean_.size(),
          stddev_.size());
  for (size_t lower = levels_.size() / 2; lower-- > 0;) {
    const size_t upper = levels_.size() - 1 - lower;
    if (std::abs(levels_[lower] + levels_[upper] - 1) < 1e-9)
      pairs_.push_back({lower, upper, levels_[upper] - levels_[lower]});
  }
  const auto cells = static_cast<size_t>(series * horizon);
  cells_.resize(cells);
  pinball_.resize(cells * levels_.size());
  inside_.resize(cells * pairs_.size());
  width_.resize(cells * pairs_.size());
}

void ForecastErrors::add(std::span<const float> forecast, std::span<const float> truth,
                         std::span<const bool> observed, std::span<const float> quantiles) {
  const auto cells = static_cast<size_t>(series_ * horizon_);
  require(cells > 0 && forecast.size() == truth.size() && forecast.size() % cells == 0 &&
              (observed.empty() || observed.size() == truth.size()) &&
              quantiles.size() == forecast.size() * levels_.size(),
          ErrorKind::internal,
          "ForecastErrors: blocks of {} series × {} steps × {} levels, got {} forecasts, {} targets, {} "
          "quantiles",
          series_, horizon_, levels_.size(), forecast.size(), truth.size(), quantiles.size());
  const size_t windows = forecast.size() / cells;
  const size_t levels = levels_.size(), pairs = pairs_.size();
  for (size_t at = 0; at < forecast.size(); ++at) {
    if (!observed.empty() && !observed[at]) continue;
    const size_t cell = at % cells, s = cell / static_cast<size_t>(horizon_);
    const double mean = mean_[s], stddev = stddev_[s];
    const double y = truth[at], f = forecast[at], error = f - y;
    Cell& sums = cells_[cell];
    sums.squared += error * error;
    sums.absolute += std::abs(error);
    sums.smape += smape_term(y, f);
    sums.smape_units += smape_term(y * stddev + mean, f * stddev + mean);
    ++sums.count;
    const float* q = levels > 0 ? &quantiles[at * levels] : nullptr;
    for (size_t level = 0; level < levels; ++level) {
      const double gap = y - q[level];
      pinball_[cell * levels + level] += std::max(levels_[level] * gap, (levels_[level] - 1) * gap);
    }
    for (size_t pair = 0; pair < pairs; ++pair) {
      const double low = q[pairs_[pair].lower], high = q[pairs_[pair].upper];
      inside_[cell * pairs + pair] += low <= y && y <= high;
      width_[cell * pairs + pair] += high - low;
    }
  }
  windows_ += static_cast<int64_t>(windows);
}

template <class Errors, class Visit>
void ForecastErrors::each_sum(Errors& errors, const Visit& visit) {
  visit(errors.windows_);
  for (auto& cell : errors.cells_) {
    for (auto* sum : {&cell.squared, &cell.absolute, &cell.smape, &cell.smape_units}) visit(*sum);
    visit(cell.count);
  }
  for (auto& sum : errors.pinball_) visit(sum);
  for (auto& count : errors.inside_) visit(count);
  for (auto& sum : errors.width_) visit(sum);
}

std::vector<double> ForecastErrors::sums() const {
  std::vector<double> sums;
  each_sum(*this, [&](const auto& sum) { sums.push_back(static_cast<double>(sum)); });
  return sums;
}

void ForecastErrors::set_sums(std::span<const double> sums) {
  size_t count = 0;
  each_sum(*this, [&](const auto&) { ++count; });
  require(sums.size() == count, ErrorKind::internal, "ForecastErrors: {} sums, got {}", count, sums.size());
  const double* next = sums.data();
  each_sum(*this, [&]<class Sum>(Sum& sum) { sum = static_cast<Sum>(*next++); });
}

PointErrors ForecastErrors::errors(Scale scale, int64_t series_begin, int64_t series_end, int64_t step_begin,
                                   int64_t step_end) const {
  PointErrors sums;
  for (int64_t s = series_begin; s < series_end; ++s) {
    const double unit = scale == Scale::units ? stddev_[static_cast<size_t>(s)] : 1;
    for (int64_t step = step_begin; step < step_end; ++step) {
      const Cell& cell = cells_[static_cast<size_t>(s * horizon_ + step)];
      sums.mse += cell.squared * unit * unit;
      sums.mae += cell.absolute * unit;
      sums.smape += scale == Scale::units ? cell.smape_units : cell.smape;
      sums.count += cell.count;
    }
  }
  const double count = sums.count > 0 ? static_cast<double>(sums.count) : std::nan("");
  sums.mse /= count;
  sums.mae /= count;
  sums.smape /= count;
  sums.rmse = std::sqrt(sums.mse);
  return sums;
}

PointErrors ForecastErrors::total(Scale scale, int64_t steps) const {
  return errors(scale, 0, series_, 0, steps > 0 ? steps : horizon_);
}

PointErrors ForecastErrors::of_series(int64_t series, Scale scale, int64_t steps) const {
  return errors(scale, series, series + 1, 0, steps > 0 ? steps : horizon_);
}

PointErrors ForecastErrors::of_step(int64_t step, Scale scale) const {
  return errors(scale, 0, series_, step, step + 1);
}

QuantileErrors ForecastErrors::quantiles(Scale scale, int64_t steps) const {
  const int64_t end = steps > 0 ? steps : horizon_;
  const size_t levels = levels_.size(), pairs = pairs_.size();
  QuantileErrors result;
  result.levels = levels_;
  result.pinball.assign(levels, 0);
  for (const Pair& pair : pairs_) result.intervals.push_back({pair.nominal, 0, 0});
  double count = 0;
  for (int64_t s = 0; s < series_; ++s) {
    const double unit = scale == Scale::units ? stddev_[static_cast<size_t>(s)] : 1;
    for (int64_t step = 0; step < end; ++step) {
      const auto cell = static_cast<size_t>(s * horizon_ + step);
      count += static_cast<double>(cells_[cell].count);
      for (size_t level = 0; level < levels; ++level)
        result.pinball[level] += pinball_[cell * levels + level] * unit;
      for (size_t pair = 0; pair < pairs; ++pair) {
        result.intervals[pair].coverage += static_cast<double>(inside_[cell * pairs + pair]);
        result.intervals[pair].width += width_[cell * pairs + pair] * unit;
      }
    }
  }
  if (count == 0) count = std::nan("");
  for (size_t level = 0; level < levels; ++level) {
    result.pinball[level] /= count;
    result.mean_pinball += result.pinball[level] / static_cast<double>(levels);
    const double from = level == 0 ? 0 : (levels_[level - 1] + levels_[level]) / 2;
    const double to = level + 1 == levels ? 1 : (levels_[level] + levels_[level + 1]) / 2;
    result.crps += (to - from) * 2 * result.pinball[level];
  }
  for (QuantileErrors::Interval& interval : result.intervals) {
    interval.coverage /= count;
    interval.width /= count;
  }
  return result;
}

std::optional<double> ForecastErrors::coverage_of_step(int64_t step, double nominal) const {
  for (size_t pair = 0; pair < pairs_.size(); ++pair) {
    if (std::abs(pairs_[pair].nominal - nominal) > 1e-6) continue;
    int64_t inside = 0, count = 0;
    for (int64_t s = 0; s < series_; ++s) {
      const auto cell = static_cast<size_t>(s * horizon_ + step);
      inside += inside_[cell * pairs_.size() + pair];
      count += cells_[cell].count;
    }
    return count > 0 ? static_cast<double>(inside) / static_cast<double>(count) : std::nan("");
  }
  return std::nullopt;
}

nlohmann::ordered_json to_json(const PointErrors& errors) {
  return {{"mse", finite_or_null(errors.mse)},
          {"mae", finite_or_null(errors.mae)},
          {"rmse", finite_or_null(errors.rmse)},
          {"smape", finite_or_null(errors.smape)},
          {"count", errors.count}};
}

nlohmann::ordered_json to_json(const QuantileErrors& errors) {
  nlohmann::ordered_json pinball = nlohmann::ordered_json::object();
  for (size_t level = 0; level < errors.levels.size(); ++level)
    pinball[fmt::format("{:g}", errors.levels[level])] = finite_or_null(errors.pinball[level]);
  nlohmann::ordered_json intervals = nlohmann::ordered_json::array();
  for (const auto& interval : errors.intervals)
    intervals.push_back({{"nominal", std::round(interval.nominal * 1e9) / 1e9},
                         {"coverage", finite_or_null(interval.coverage)},
                         {"width", finite_or_null(interval.width)}});
  return {{"crps", finite_or_null(errors.crps)},
          {"mean_pinball", finite_or_null(errors.mean_pinball)},
          {"pinball", pinball},
          {"intervals", intervals}};
}

}  // namespace modewise::metrics
