#include "modewise/models/series_classification/shapelet_distance.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/conj_physical.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace modewise::models {
namespace {

constexpr double kConstant = 1e-6;  // standard deviation below this fraction of the RMS: constant
constexpr size_t kAtOnce = 256;     // subsequences processed together
constexpr double kInfiniteDistance = std::numeric_limits<double>::infinity();

/// Knuth's two-sum: high + low is exactly high + `value`, plus the earlier rounding error.
void add_exactly(double& high, double& low, double value) {
  const double sum = high + value, taken = sum - high;
  low += (high - (sum - taken)) + (value - taken);
  high = sum;
}

/// Variance from the means of values and of squares; infinity for a constant.
double variance_of(double mean, double square) {
  const double variance = square - mean * mean;
  return variance > kConstant * kConstant * square ? variance : kInfiniteDistance;
}

/// FFT of real values, zero-padded.
at::Tensor spectrum_of(const std::vector<double>& values, int64_t steps) {
  const at::Tensor view =
      at::from_blob(const_cast<double*>(values.data()), {std::ssize(values)}, at::kDouble);
  return at::fft_rfft(view, steps);
}

/// x·|x|: a square that keeps the sign.
double signed_square(double x) {
  return x * std::abs(x);
}

}  // namespace

std::vector<double> standardised(std::span<const float> series) {
  const auto count = static_cast<double>(series.size());
  double sum = 0, lost = 0, squares = 0, lost_squares = 0;
  for (const double value : series) {
    add_exactly(sum, lost, value);
    add_exactly(squares, lost_squares, value * value);
  }
  const double mean = (sum + lost) / count, variance = variance_of(mean, (squares + lost_squares) / count);
  std::vector<double> out(series.size(), 0);
  if (variance < kInfiniteDistance)
    for (size_t i = 0; i < out.size(); ++i) out[i] = (series[i] - mean) / std::sqrt(variance);
  return out;
}

int64_t transform_steps(size_t shapelet, size_t series) {
  if (shapelet > series) return 0;
  const size_t products = shapelet * (series - shapelet + 1);
  return products > 40 * series + 40000 ? static_cast<int64_t>(std::bit_ceil(series)) : 0;
}

SearchedSeries::SearchedSeries(std::span<const float> values, int64_t transform)
    : values_(values), sums_(values.size()), squares_(values.size()), centred_(values.size()) {
  double sum = 0, lost = 0, squares = 0, lost_squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    add_exactly(sum, lost, value);
    add_exactly(squares, lost_squares, value * value);
    sums_.high[i + 1] = sum, sums_.low[i + 1] = lost;
    squares_.high[i + 1] = squares, squares_.low[i + 1] = lost_squares;
  }
  const double mean = (sum + lost) / static_cast<double>(values.size());
  double square = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    centred_[i] = values[i] - mean;
    square += centred_[i] * centred_[i];
  }
  norm_ = std::sqrt(square);
  if (transform > 0) spectrum_ = spectrum_of(centred_, transform);
}

std::vector<double> SearchedSeries::variances(size_t length) const {
  const double share = 1 / static_cast<double>(length);
  std::vector<double> out(values_.size() - length + 1);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = variance_of(sums_.between(i, i + length) * share, squares_.between(i, i + length) * share);
  return out;
}

SearchedShapelet::SearchedShapelet(std::span<const float> values, int64_t transform)
    : values_(values),
      wanted_(standardised(values)),
      constant_(std::all_of(wanted_.begin(), wanted_.end(), [](double value) { return value == 0; })) {
  if (transform > 0 && !constant_) spectrum_ = at::conj_physical(spectrum_of(wanted_, transform));
}

double SearchedShapelet::distance(const SearchedSeries& series) const {
  if (series.values().size() < values_.size()) return shapelet_distance(series.values(), values_);
  const std::vector<double> variances = series.variances(values_.size());
  const bool flat =
      std::any_of(variances.begin(), variances.end(), [](double v) { return v == kInfiniteDistance; });
  // Standardized values have mean 0 and mean square 1, or are all 0.
  if (constant_) return flat ? 0 : 1;
  const bool likely = spectrum_.defined() && series.spectrum().defined();
  const double square = likely ? least_square_of_likely(series, variances)
                               : least_square(series, variances, 0, variances.size());
  return std::sqrt(std::max(flat ? std::min(square, 1.0) : square, 0.0));
}

double SearchedShapelet::least_square(const SearchedSeries& series, const std::vector<double>& variances,
                                      size_t first, size_t end) const {
  const auto steps = static_cast<double>(wanted_.size());
  double minimum = kInfiniteDistance;
  for (; first < end; first += kAtOnce) {
    const size_t count = std::min(kAtOnce, end - first);
    const double* from = series.centred().data() + first;
    std::array<double, kAtOnce> products{};
    for (size_t step = 0; step < wanted_.size(); ++step)
      for (size_t i = 0; i < count; ++i) products[i] += wanted_[step] * from[step + i];
    for (size_t i = 0; i < count; ++i)
      minimum = std::min(minimum, 2 - 2 * products[i] / (std::sqrt(variances[first + i]) * steps));
  }
  return minimum;
}

double SearchedShapelet::least_square_of_likely(const SearchedSeries& series,
                                                const std::vector<double>& variances) const {
  const int64_t transform = 2 * (spectrum_.size(0) - 1);
  const at::Tensor all = at::fft_irfft(spectrum_ * series.spectrum(), transform);
  const double* products = all.const_data_ptr<double>();
  // Rounding bound of a sum of L products and of three FFTs: each product is at most the product of the
  // norms, and the shapelet's norm is √L.
  const auto steps = static_cast<double>(wanted_.size());
  const double lost = (2 * steps + 16 * std::log2(static_cast<double>(transform))) *
                      std::numeric_limits<double>::epsilon() * std::sqrt(steps) * series.norm();
  // The nearest subsequence has the largest product over standard deviation.
  double largest = -kInfiniteDistance;
  for (size_t i = 0; i < variances.size(); ++i) {
    const double surely = signed_square(products[i] - lost) / variances[i];
    largest = surely > largest ? surely : largest;
  }
  double minimum = kInfiniteDistance;
  for (size_t i = 0; i < variances.size(); ++i) {
    const auto may_be = [&](size_t at) {
      return signed_square(products[at] + lost) >= largest * variances[at];
    };
    if (!may_be(i)) continue;
    size_t end = i + 1;
    while (end < variances.size() && end - i < kAtOnce && may_be(end)) ++end;
    minimum = std::min(minimum, least_square(series, variances, i, end));
    i = end - 1;
  }
  return minimum;
}

double shapelet_distance(std::span<const float> shapelet, std::span<const float> series) {
  if (series.size() < shapelet.size()) std::swap(series, shapelet);
  const int64_t transform = transform_steps(shapelet.size(), series.size());
  return SearchedShapelet(shapelet, transform).distance(SearchedSeries(series, transform));
}

}  // namespace modewise::models
