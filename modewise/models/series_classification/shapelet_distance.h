#pragma once
// How far a short series is from the nearest stretch of a long one, for many of both.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::models {

/// Mean 0 and deviation 1 over all steps; zeros where the deviation is at most 1e-6 of the root mean square.
std::vector<double> standardised(std::span<const float> series);

/// Steps of the Fourier transforms that find the nearest stretch of a series of `series` steps for a shapelet
/// of `shapelet` steps sooner than sums of products do, a power of two; 0 where they would not.
int64_t transform_steps(size_t shapelet, size_t series);

/// A series of T ≥ 1 steps whose stretches are compared with shapelets.
class SearchedSeries {
 public:
  /// `transform`: steps of its Fourier transform, at least T, or 0 for none. The values must outlive it.
  SearchedSeries(std::span<const float> values, int64_t transform);

  std::span<const float> values() const { return values_; }
  /// Of the T − L + 1 stretches of L steps, in order; infinity for those whose deviation is at most 1e-6 of
  /// their root mean square: constants.
  std::vector<double> variances(size_t length) const;
  /// The values less their mean.
  const std::vector<double>& centred() const { return centred_; }
  /// The root of the sum of their squares.
  double norm() const { return norm_; }
  /// Their transform, undefined where there is none.
  const at::Tensor& spectrum() const { return spectrum_; }

 private:
  /// Sums of all values before a step, as the two numbers that hold more digits than one.
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

/// A shapelet of L ≥ 1 steps that is looked for in series.
class SearchedShapelet {
 public:
  /// `transform` as for the series: products are sums where either has none. The values must outlive it.
  SearchedShapelet(std::span<const float> values, int64_t transform);

  /// The least √(mean of squared differences) between the shapelet, standardised, and the stretches of the
  /// series as long as it, each standardised (Karlsson et al. 2016: subsequence distance). If the series is
  /// the shorter one, the two change places. The bits do not depend on transforms.
  double distance(const SearchedSeries& series) const;

 private:
  /// The least mean of squared differences to stretches [first, end), by sums of products; 2 to a constant.
  double least_square(const SearchedSeries& series, const std::vector<double>& variances, size_t first,
                      size_t end) const;
  /// The same of all stretches: transforms say which ones may be the nearest, and sums decide among them.
  double least_square_of_likely(const SearchedSeries& series, const std::vector<double>& variances) const;

  std::span<const float> values_;
  std::vector<double> wanted_;
  bool constant_;
  at::Tensor spectrum_;  // conjugate
};

/// The distance of one pair.
double shapelet_distance(std::span<const float> shapelet, std::span<const float> series);

}  // namespace modewise::models
