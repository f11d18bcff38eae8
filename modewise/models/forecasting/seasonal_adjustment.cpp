#include "modewise/models/forecasting/seasonal_adjustment.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace modewise::models {
namespace {

constexpr double kQuantile90 = 2.705543454095404;  // of χ² with one degree of freedom

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Centred moving average at row t, with half a period on both sides.
double centred_mean(std::span<const double> history, size_t t, size_t period) {
  const size_t half = period / 2;
  double sum = 0;
  for (size_t i = t - half; i <= t + half; ++i) sum += history[i];
  if (period % 2 == 0) sum -= (history[t - half] + history[t + half]) / 2;
  return sum / static_cast<double>(period);
}

}  // namespace

bool is_seasonal(std::span<const double> history, int64_t period) {
  const auto m = static_cast<size_t>(period);
  if (m < 2 || history.size() < 2 * m) return false;
  const double mean = mean_of(history);
  const auto covariance = [&](size_t lag) {
    double sum = 0;
    for (size_t t = lag; t < history.size(); ++t) sum += (history[t] - mean) * (history[t - lag] - mean);
    return sum;
  };
  const double variance = covariance(0);
  if (!(variance > 0)) return false;
  double squares = 0;
  for (size_t lag = 0; lag < m; ++lag) squares += std::pow(covariance(lag) / variance, 2);
  const double last = covariance(m) / variance;
  return static_cast<double>(history.size()) * last * last / squares > kQuantile90;
}

double Season::take_off(double value, int64_t row) const {
  if (factors.empty()) return value;
  const double factor = factors[static_cast<size_t>(row) % factors.size()];
  return multiplicative ? value / factor : value - factor;
}

double Season::put_back(double value, int64_t row) const {
  if (factors.empty()) return value;
  const double factor = factors[static_cast<size_t>(row) % factors.size()];
  return multiplicative ? value * factor : value + factor;
}

Season classical_season(std::span<const double> history, int64_t period, bool multiplicative) {
  const auto m = static_cast<size_t>(period);
  std::vector<double> sums(m), counts(m);
  for (size_t t = m / 2; t + m / 2 < history.size(); ++t) {
    const double trend = centred_mean(history, t, m);
    sums[t % m] += multiplicative ? history[t] / trend : history[t] - trend;
    ++counts[t % m];
  }
  Season season{multiplicative, std::vector<double>(m)};
  for (size_t phase = 0; phase < m; ++phase) season.factors[phase] = sums[phase] / counts[phase];
  const double mean = mean_of(season.factors);
  for (double& factor : season.factors) factor = multiplicative ? factor / mean : factor - mean;
  return season;
}

Season season_of_history(std::span<const double> history, int64_t period) {
  if (period < 2 || std::ssize(history) < 2 * period) return {};
  if (*std::min_element(history.begin(), history.end()) > 0) {
    Season season = classical_season(history, period, true);
    if (*std::min_element(season.factors.begin(), season.factors.end()) > 0) return season;
  }
  return classical_season(history, period, false);
}

}  // namespace modewise::models
