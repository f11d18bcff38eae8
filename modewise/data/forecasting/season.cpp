#include "modewise/data/forecasting/season.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "modewise/data/forecasting/tensor_cells.h"

namespace modewise::data {
namespace {

constexpr int64_t kMaxRows = 5000, kMaxSeries = 16, kMinSeasons = 4;
constexpr double kMinShare = 0.05, kNearLargest = 0.75;

/// Up to kMaxSeries series over the last kMaxRows rows, without constant ones; missing cells repeat the
/// previous row.
std::vector<std::vector<double>> rows_of(const Series& series, SplitRange rows) {
  const int64_t first = std::max(rows.begin, rows.end - kMaxRows), all = series.series_count(),
                step = (all + kMaxSeries - 1) / kMaxSeries;
  const at::Tensor values = series.values.reshape({-1, all}).contiguous();
  const at::Tensor seen =
      series.observed.defined() ? series.observed.reshape({-1, all}).contiguous() : at::Tensor();
  const TensorCells value(values);
  const bool* observed = seen.defined() ? seen.const_data_ptr<bool>() : nullptr;
  std::vector<std::vector<double>> out;
  for (int64_t s = 0; s < all; s += step) {
    std::vector<double> x;
    for (int64_t row = first; row < rows.end; ++row)
      x.push_back(observed == nullptr || observed[row * all + s] || x.empty() ? value[row * all + s]
                                                                              : x.back());
    if (std::adjacent_find(x.begin(), x.end(), std::not_equal_to<>()) != x.end()) out.push_back(std::move(x));
  }
  return out;
}

/// R² of the second half of the seasons, predicted by the mean profile of the first half.
double accuracy(std::span<const double> x, size_t season) {
  const size_t seasons = x.size() / season, half = seasons / 2;
  x = x.last(seasons * season);
  std::vector<double> course(season);
  double all = 0, left = 0;
  for (size_t i = 0; i < seasons; ++i) {
    const std::span<const double> one = x.subspan(i * season, season);
    const double mean = std::accumulate(one.begin(), one.end(), 0.0) / static_cast<double>(season);
    for (size_t t = 0; t < season; ++t) {
      const double from = one[t] - mean;
      if (i < half) {
        course[t] += from / static_cast<double>(half);
      } else {
        all += from * from;
        left += (from - course[t]) * (from - course[t]);
      }
    }
  }
  return all > 0 ? 1 - left / all : 0;
}

}  // namespace

int64_t season_by_course(const Series& series, SplitRange rows) {
  const std::vector<std::vector<double>> some = rows_of(series, rows);
  if (some.empty()) return 1;
  const auto n = static_cast<double>(some.front().size());
  std::vector<double> share(some.front().size() / kMinSeasons + 1);
  double largest = 0;
  for (size_t p = 2; p < share.size(); ++p) {
    double known = 0;
    for (const std::vector<double>& x : some) known += accuracy(x, p) / static_cast<double>(some.size());
    const auto length = static_cast<double>(p);
    if (known >= std::max(kMinShare, (length + 4 * std::sqrt(length)) / n)) share[p] = known;
    largest = std::max(largest, share[p]);
  }
  if (largest == 0) return 1;
  for (size_t p = 2;; ++p) {
    const bool top = share[p] >= share[p - 1] && (p + 1 == share.size() || share[p] >= share[p + 1]);
    if (top && share[p] >= kNearLargest * largest) return static_cast<int64_t>(p);
  }
}

}  // namespace modewise::data
