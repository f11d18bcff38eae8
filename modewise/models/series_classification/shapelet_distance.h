#pragma once
// Shapelet distances: the distance of a shapelet to the nearest subsequence of a series, for many of both.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::models {

/// Standardizes a series to mean 0 and standard deviation 1; zeros if the standard deviation is at most 1e-6
/// of the root mean square.
std::vector<double> standardised(std::span<const float> series);

/// FFT length (a power of two) for the search of a shapelet of `shapelet` steps in a series of `series`
/// steps; 0 if direct sums of products are faster.
int64_t transform_steps(size_t shapelet, size_t series);

/// A series of T ≥ 1 steps, prepared for shapelet search.
class SearchedSeries {
 public:
  /// `transform`: FFT length, at least T, or 0: none. The values must outlive this.
  SearchedSeries(std::span<const float> values, int64_t transform);

  std::span<const float> values() const { return values_; }
  /// Variances of the T − L + 1 subsequences of L steps; infinity for constant ones (standard deviation at
  /// most 1e-6 of the root mean square).
  std::vector<double> variances(size_t length) const;
  /// The values minus their mean.
  const std::vector<double>& centred() const { return centred_; }
  /// Euclidean norm of the centred values.
  double norm() const { return norm_; }
  /// Fourier transform of the centred values; undefined without one.
  const at::Tensor& spectrum() const { return spectrum_; }

 private:
  /// Prefix sums in double-double precision (high and low parts).
  struct RunningSums {
    std::vector<double> high, low;
    explicit RunningSums(size_t steps) : high(steps + 1, 0), low(steps + 1, 0) {}
    double between(size_t first, size_t end) const {
      return high[end] - high[first] + (low[end] - low[first]);
    }
  };

  std::span<const float> values_;
  RunningSums sums_, squares_;
  std::vector<double> centred_;
  double norm_ = 0;
  at::Tensor spectrum_;
};

/// A shapelet of L ≥ 1 steps, prepared for search in series.
class SearchedShapelet {
 public:
  /// `transform` as for the series: direct sums if either has none. The values must outlive this.
  SearchedShapelet(std::span<const float> values, int64_t transform);

  /// Subsequence distance (Karlsson et al. 2016): the minimum root mean squared difference between the
  /// standardized shapelet and each standardized subsequence of its length. If the series is shorter, the two
  /// swap roles. The bits do not depend on the use of FFTs.
  double distance(const SearchedSeries& series) const;

 private:
  /// Minimum mean squared difference to subsequences [first, end), by direct sums; 2 for a constant one.
  double least_square(const SearchedSeries& series, const std::vector<double>& variances, size_t first,
                      size_t end) const;
  /// The same over all subsequences: FFTs preselect candidates, direct sums decide.
  double least_square_of_likely(const SearchedSeries& series, const std::vector<double>& variances) const;

  std::span<const float> values_;
  std::vector<double> wanted_;
  bool constant_;
  at::Tensor spectrum_;  // conjugate
};

/// The distance of one pair.
double shapelet_distance(std::span<const float> shapelet, std::span<const float> series);

}  // namespace modewise::models
