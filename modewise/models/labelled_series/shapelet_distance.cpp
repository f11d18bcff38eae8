#include "modewise/models/labelled_series/shapelet_distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace modewise::models {
namespace {

constexpr double kConstant = 1e-6;  // deviations below this share of the root mean square are none
constexpr size_t kAtOnce = 256;     // stretches whose products are summed side by side

/// From the means of values and of squares; 0 for a constant.
double deviation_of(double mean, double square) {
  const double deviation = std::sqrt(std::max(square - mean * mean, 0.0));
  return deviation > kConstant * std::sqrt(square) ? deviation : 0;
}

/// Sums over the steps of stretches that begin side by side.
struct Stretches {
  std::array<double, kAtOnce> products{}, values{}, squares{};

  Stretches(const std::vector<double>& wanted, const float* first, size_t count) {
    for (size_t step = 0; step < wanted.size(); ++step)
      for (size_t i = 0; i < count; ++i) {
        const double value = first[step + i];
        products[i] += wanted[step] * value;
        values[i] += value;
        squares[i] += value * value;
      }
  }
};

}  // namespace

std::vector<double> standardised(std::span<const float> series) {
  const auto count = static_cast<double>(series.size());
  double sum = 0, squares = 0;
  for (const float value : series) sum += value, squares += static_cast<double>(value) * value;
  const double mean = sum / count, deviation = deviation_of(mean, squares / count);
  std::vector<double> out(series.size(), 0);
  if (deviation > 0)
    for (size_t i = 0; i < out.size(); ++i) out[i] = (series[i] - mean) / deviation;
  return out;
}

double shapelet_distance(std::span<const float> shapelet, std::span<const float> series) {
  if (series.size() < shapelet.size()) std::swap(series, shapelet);
  const std::vector<double> wanted = standardised(shapelet);
  const size_t length = shapelet.size(), stretches = series.size() - length + 1;
  const bool constant = std::all_of(wanted.begin(), wanted.end(), [](double value) { return value == 0; });
  const auto steps = static_cast<double>(length);
  double least = std::numeric_limits<double>::infinity();
  for (size_t first = 0; first < stretches; first += kAtOnce) {
    const size_t count = std::min(kAtOnce, stretches - first);
    const Stretches sums(wanted, series.data() + first, count);
    for (size_t i = 0; i < count; ++i) {
      // Both have mean 0 and mean square 1, or are 0.
      const double deviation = deviation_of(sums.values[i] / steps, sums.squares[i] / steps);
      double square = (constant ? 0 : 1) + (deviation > 0 ? 1 : 0);
      if (deviation > 0) square -= 2 * sums.products[i] / (deviation * steps);
      least = std::min(least, square);
    }
  }
  return std::sqrt(std::max(least, 0.0));
}

}  // namespace modewise::models
