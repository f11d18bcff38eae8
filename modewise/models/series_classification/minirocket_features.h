#pragma once
// MiniRocket features (Dempster, Schmidt and Webb, "MiniRocket: a very fast (almost) deterministic transform
// for time series classification", KDD 2021): the proportion of positive values (PPV) of a convolution minus
// a bias.
//
// Letters: V variables, T steps, 84 kernels, D dilations, F features. 84·D combinations of kernel and
// dilation, dilation-major.

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::models {

/// A kernel has 9 taps: weight 2 at three of them, −1 at the others; the 84 choices of three in lexicographic
/// order.
inline constexpr int64_t kRocketTaps = 9, kRocketKernels = 84;

/// Dilations, and the number of features per kernel at each dilation.
struct RocketDilations {
  std::vector<int64_t> dilations, features;  // [D]
  int64_t per_kernel() const;
  int64_t count() const { return kRocketKernels * per_kernel(); }
};
/// Dilations for series of `steps` steps and about `features` features: at most 32, exponentially spaced up
/// to (T − 1) / 8.
RocketDilations rocket_dilations(int64_t steps, int64_t features);

/// Quantile level of the bias of feature `feature`: fractional part of multiples of the golden ratio, float32
/// as published.
float rocket_quantile(int64_t feature);

/// View of a series of V variables: step t of variable v is values[v · stride + t].
struct RocketSeries {
  const float* values;
  int64_t stride, steps;
};

/// Convolutions of one series with the kernels of one dilation, zero-padded.
class RocketConvolution {
 public:
  RocketConvolution(const RocketSeries& series, std::span<const int64_t> variables, int64_t dilation);

  /// Convolution with kernel `kernel`, summed over `variables` (a subset of the constructor's): [T] float32.
  void apply(int64_t kernel, std::span<const int64_t> variables, std::span<float> out) const;

 private:
  std::span<const float> shifted(int64_t variable, int64_t tap) const;

  int64_t steps_;
  std::vector<int64_t> place_;       // variable -> index in taps_ and minus_
  std::vector<float> minus_, taps_;  // −Σ of all taps [V', T]; 3 × each tap [V', 9, T]
};

/// Steps that a feature counts: all (padded) or without half a kernel at both ends (valid), alternating by
/// kernel and dilation. May be empty.
struct RocketSteps {
  int64_t begin, end;
};
RocketSteps rocket_steps(int64_t steps, int64_t dilation_number, int64_t dilation, int64_t kernel);

/// Quantile of ascending values by linear interpolation, as NumPy, in float64.
float rocket_bias(std::span<const float> ascending, float quantile);

/// PPV of each feature: `out` [F]. `channels` lists each combination's variables; `biases` [F] are ordered by
/// dilation, kernel, feature.
void rocket_features(const RocketSeries& series, const RocketDilations& dilations,
                     const std::vector<std::vector<int64_t>>& channels, std::span<const float> biases,
                     std::span<float> out);

}  // namespace modewise::models
