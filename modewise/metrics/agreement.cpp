#include "modewise/metrics/agreement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "modewise/core/error.h"

namespace modewise::metrics {
namespace {

/// The values minus their mean; empty if all are equal.
std::vector<double> centred(std::span<const double> values) {
  if (std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); })) return {};
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  std::vector<double> out(values.begin(), values.end());
  for (double& value : out) value -= mean;
  return out;
}

double length_of(const std::vector<double>& values) {
  double largest = 0, sum = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  for (const double value : values) sum += value / largest * (value / largest);
  return largest * std::sqrt(sum);
}

void require_pairs(std::span<const double> x, std::span<const double> y) {
  require(x.size() == y.size(), ErrorKind::internal, "correlation: {} values and {} values", x.size(),
          y.size());
}

}  // namespace

double matthews(std::span<const int64_t> confusion, int64_t classes) {
  double right = 0, samples = 0, together = 0, predicted_squares = 0, true_squares = 0;
  for (int64_t k = 0; k < classes; ++k) {
    double predicted = 0, truly = 0;
    for (int64_t j = 0; j < classes; ++j) {
      predicted += static_cast<double>(confusion[static_cast<size_t>(j * classes + k)]);
      truly += static_cast<double>(confusion[static_cast<size_t>(k * classes + j)]);
    }
    right += static_cast<double>(confusion[static_cast<size_t>(k * classes + k)]);
    samples += truly;
    together += predicted * truly;
    predicted_squares += predicted * predicted;
    true_squares += truly * truly;
  }
  const double predicted = samples * samples - predicted_squares, truly = samples * samples - true_squares;
  if (predicted == 0 || truly == 0) return 0;
  return (right * samples - together) / std::sqrt(predicted) / std::sqrt(truly);
}

double f1(std::span<const int64_t> confusion, int64_t classes, int64_t positive) {
  int64_t both = 0;  // predicted plus true ones; true positives count twice
  for (int64_t j = 0; j < classes; ++j)
    both += confusion[static_cast<size_t>(j * classes + positive)] +
            confusion[static_cast<size_t>(positive * classes + j)];
  const int64_t right = confusion[static_cast<size_t>(positive * classes + positive)];
  return both == 0 ? 0 : 2 * static_cast<double>(right) / static_cast<double>(both);
}

double pearson(std::span<const double> x, std::span<const double> y) {
  require_pairs(x, y);
  if (x.size() < 2) return std::nan("");
  const std::vector<double> a = centred(x), b = centred(y);
  if (a.empty() || b.empty()) return std::nan("");
  const double scale_a = length_of(a), scale_b = length_of(b);
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] / scale_a * (b[i] / scale_b);
  return std::clamp(sum, -1.0, 1.0);
}

std::vector<double> average_ranks(std::span<const double> values) {
  if (std::ranges::any_of(values, [](double x) { return std::isnan(x); }))
    return std::vector<double>(values.size(), std::nan(""));
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = (static_cast<double>(begin) + 1 + static_cast<double>(end)) / 2;
    for (; begin < end; ++begin) ranks[order[begin]] = mean;
  }
  return ranks;
}

double spearman(std::span<const double> x, std::span<const double> y) {
  require_pairs(x, y);
  return pearson(average_ranks(x), average_ranks(y));
}

}  // namespace modewise::metrics
