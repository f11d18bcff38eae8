#pragma once
// Features of MiniRocket (Dempster, Schmidt and Webb, "MiniRocket: a very fast (almost) deterministic
// transform for time series classification", KDD 2021): shares of a convolution's values above a bias.
//
// Letters: V variables, T steps, 84 kernels, D dilations, F features. Combinations are kernels of dilations,
// 84·D of them, a dilation's together.

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::models {

/// A kernel has 9 weights: 2 at three places, −1 at the others; the 84 choices of three in the order of
/// their places.
inline constexpr int64_t kRocketTaps = 9, kRocketKernels = 84;

/// How far the taps of kernels stand apart, and how many features each kernel has at each dilation.
struct RocketDilations {
  std::vector<int64_t> dilations, features;  // [D]
  int64_t per_kernel() const;
  int64_t count() const { return kRocketKernels * per_kernel(); }
};
/// For series of `steps` steps and about `features` features: at most 32 dilations that grow by powers up to
/// (T − 1) / 8.
RocketDilations rocket_dilations(int64_t steps, int64_t features);

/// The quantile of the convolution at which feature number `feature` has its bias: the fractions of the
/// multiples of the golden ratio, float32 as published.
float rocket_quantile(int64_t feature);

/// A series of V variables: step t of variable v is values[v · stride + t].
struct RocketSeries {
  const float* values;
  int64_t stride, steps;
};

/// Convolutions of one series with the kernels of one dilation, zeros beyond its ends.
class RocketConvolution {
 public:
  RocketConvolution(const RocketSeries& series, std::span<const int64_t> variables, int64_t dilation);

  /// The sum over `variables` (of those given above) with kernel number `kernel`: [T] float32.
  void apply(int64_t kernel, std::span<const int64_t> variables, std::span<float> out) const;

 private:
  std::span<const float> shifted(int64_t variable, int64_t tap) const;

  int64_t steps_;
  std::vector<int64_t> place_;       // of a variable among those that are kept
  std::vector<float> minus_, taps_;  // −Σ of all taps [V', T]; 3 × each tap [V', 9, T]
};

/// The steps of a convolution that a feature counts: all, or without the half kernel at both ends, in turn by
/// kernel and dilation. Empty where the ends leave none.
struct RocketSteps {
  int64_t begin, end;
};
RocketSteps rocket_steps(int64_t steps, int64_t dilation_number, int64_t dilation, int64_t kernel);

/// Linear between the two nearest of the ascending values, as numpy's, in float64.
float rocket_bias(std::span<const float> ascending, float quantile);

/// Shares of the counted steps above each feature's bias: `out` [F]. `channels` lists each combination's
/// variables, `biases` [F] in the order of dilations, kernels, features.
void rocket_features(const RocketSeries& series, const RocketDilations& dilations,
                     const std::vector<std::vector<int64_t>>& channels, std::span<const float> biases,
                     std::span<float> out);

}  // namespace modewise::models
