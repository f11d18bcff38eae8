#include "modewise/metrics/seasonal_spread.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace modewise::metrics {
namespace {

constexpr int64_t kPhasesOfNeighbour = 48;  // a season of so many rows has one neighbour on each side
constexpr double kPriorRows = 4, kFloor = 0.02;
constexpr double kNarrowest = 1e-3;  // half width of a quantile model's interval, scaled

struct Mean {
  double sum = 0, count = 0;
  void add(double value) {
    sum += value;
    count += 1;
  }
  double value() const { return count > 0 ? sum / count : 0; }
};

/// Divides by the mean of the values.
void normalize(std::span<double> values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (double& value : values) value /= mean;
}

/// Means of the normalized √|error| of each target row of series `s`, from row `begin` on.
std::vector<Mean> means_of_rows(const CalibrationSample& sample, int64_t s, int64_t first, int64_t last,
                                int64_t begin, int64_t rows) {
  const auto root = [&](int64_t step, int64_t window) {
    const size_t at = sample.at(0, s, step, window);
    const double below = sample.below[at], above = sample.above[at];
    const double unit = sample.shared_forecast ? 1 : std::max(-0.5 * (below + above), kNarrowest);
    return std::sqrt(std::abs(0.5 * (above - below)) / unit);
  };
  std::vector<Mean> result(static_cast<size_t>(rows));
  for (int64_t step = 0; step < sample.horizon; ++step) {
    Mean mean;
    for (int64_t window = first; window < last; ++window)
      if (const double v = root(step, window); !std::isnan(v)) mean.add(v);
    if (mean.sum == 0) continue;
    for (int64_t window = first; window < last; ++window)
      if (const double v = root(step, window); !std::isnan(v))
        result[static_cast<size_t>(sample.first_target[static_cast<size_t>(window)] + step - begin)].add(
            v / mean.value());
  }
  return result;
}

}  // namespace

std::vector<float> seasonal_spread(const CalibrationSample& sample, int64_t first, int64_t last) {
  const int64_t season = sample.season, near = season / kPhasesOfNeighbour;
  std::vector<float> result(static_cast<size_t>(sample.series * season), 1);
  if (first >= last) return result;
  const auto [low, high] =
      std::minmax_element(sample.first_target.begin() + first, sample.first_target.begin() + last);
  const int64_t begin = *low, rows = *high - *low + sample.horizon;
  for (int64_t s = 0; s < sample.series; ++s) {
    std::vector<Mean> phases(static_cast<size_t>(season));
    Mean all;
    const std::vector<Mean> of_rows = means_of_rows(sample, s, first, last, begin, rows);
    for (size_t row = 0; row < of_rows.size(); ++row) {
      if (of_rows[row].count == 0) continue;
      phases[static_cast<size_t>(season_phase(begin + static_cast<int64_t>(row), season))].add(
          of_rows[row].value());
      all.add(of_rows[row].value());
    }
    if (all.sum == 0) continue;
    std::vector<double> spread;
    for (int64_t phase = 0; phase < season; ++phase) {
      Mean pooled{kPriorRows * all.value(), kPriorRows};
      for (int64_t i = phase - near; i <= phase + near; ++i) {
        const Mean& one = phases[static_cast<size_t>(season_phase(i, season))];
        pooled.sum += one.sum;
        pooled.count += one.count;
      }
      spread.push_back(pooled.value() * pooled.value());
    }
    normalize(spread);
    for (double& value : spread) value = std::max(value, kFloor);
    normalize(spread);
    std::copy(spread.begin(), spread.end(), result.begin() + s * season);
  }
  return result;
}

}  // namespace modewise::metrics
