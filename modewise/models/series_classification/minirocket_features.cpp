#include "modewise/models/series_classification/minirocket_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace modewise::models {
namespace {

constexpr int64_t kMaxDilations = 32, kHalf = kRocketTaps / 2;

std::array<std::array<int64_t, 3>, kRocketKernels> all_kernels() {
  std::array<std::array<int64_t, 3>, kRocketKernels> out;
  size_t at = 0;
  for (int64_t a = 0; a < kRocketTaps; ++a)
    for (int64_t b = a + 1; b < kRocketTaps; ++b)
      for (int64_t c = b + 1; c < kRocketTaps; ++c) out[at++] = {a, b, c};
  return out;
}

}  // namespace

int64_t RocketDilations::per_kernel() const {
  return std::accumulate(features.begin(), features.end(), int64_t{0});
}

RocketDilations rocket_dilations(int64_t steps, int64_t features) {
  const int64_t each = std::max<int64_t>(features / kRocketKernels, 1);
  const int64_t maximum = std::min(each, kMaxDilations);
  const double exponent = std::log2(static_cast<double>(steps - 1) / static_cast<double>(kRocketTaps - 1));
  const double step = maximum > 1 ? exponent / static_cast<double>(maximum - 1) : 0;
  RocketDilations out;
  for (int64_t i = 0; i < maximum; ++i) {
    const double power = maximum > 1 && i == maximum - 1 ? exponent : static_cast<double>(i) * step;
    const auto dilation = static_cast<int64_t>(std::pow(2.0, power));
    if (out.dilations.empty() || dilation != out.dilations.back()) {
      out.dilations.push_back(dilation);
      out.features.push_back(0);
    }
    ++out.features.back();
  }
  const double multiplier = static_cast<double>(each) / static_cast<double>(maximum);
  for (int64_t& count : out.features) count = static_cast<int64_t>(static_cast<double>(count) * multiplier);
  for (size_t i = 0; out.per_kernel() < each; i = (i + 1) % out.features.size()) ++out.features[i];
  return out;
}

float rocket_quantile(int64_t feature) {
  const double ratio = (std::sqrt(5.0) + 1) / 2;
  return static_cast<float>(std::fmod(static_cast<double>(feature + 1) * ratio, 1.0));
}

RocketConvolution::RocketConvolution(const RocketSeries& series, std::span<const int64_t> variables,
                                     int64_t dilation)
    : steps_(series.steps) {
  const auto steps = static_cast<size_t>(steps_);
  minus_.resize(variables.size() * steps);
  taps_.resize(variables.size() * steps * kRocketTaps);
  for (size_t v = 0; v < variables.size(); ++v) {
    const auto variable = static_cast<size_t>(variables[v]);
    if (variable >= place_.size()) place_.resize(variable + 1, -1);
    place_[variable] = static_cast<int64_t>(v);
    const float* x = series.values + variables[v] * series.stride;
    float* minus = minus_.data() + v * steps;
    for (size_t t = 0; t < steps; ++t) minus[t] = -x[t];
    for (int64_t tap = 0; tap < kRocketTaps; ++tap) {
      const int64_t shift = (tap - kHalf) * dilation;
      float* mine = taps_.data() + (v * kRocketTaps + static_cast<size_t>(tap)) * steps;
      const int64_t begin = std::clamp<int64_t>(-shift, 0, steps_),
                    end = std::clamp(steps_ - shift, begin, steps_);
      for (int64_t t = begin; t < end; ++t) {
        mine[t] = x[t + shift] + x[t + shift] + x[t + shift];
        if (shift != 0) minus[t] -= x[t + shift];
      }
    }
  }
}

std::span<const float> RocketConvolution::shifted(int64_t variable, int64_t tap) const {
  const auto at = static_cast<size_t>((place_[static_cast<size_t>(variable)] * kRocketTaps + tap) * steps_);
  return {taps_.data() + at, static_cast<size_t>(steps_)};
}

void RocketConvolution::apply(int64_t kernel, std::span<const int64_t> variables,
                              std::span<float> out) const {
  static const auto kernels = all_kernels();
  const auto& [a, b, c] = kernels[static_cast<size_t>(kernel)];
  std::fill(out.begin(), out.end(), 0.0F);
  for (const int64_t variable : variables) {
    const float* minus = minus_.data() + place_[static_cast<size_t>(variable)] * steps_;
    const std::span<const float> first = shifted(variable, a), second = shifted(variable, b),
                                 third = shifted(variable, c);
    for (size_t t = 0; t < out.size(); ++t) out[t] += minus[t] + first[t] + second[t] + third[t];
  }
}

RocketSteps rocket_steps(int64_t steps, int64_t dilation_number, int64_t dilation, int64_t kernel) {
  if ((dilation_number + kernel) % 2 == 0) return {0, steps};
  const int64_t ends = kHalf * dilation;
  return {ends, std::max(steps - ends, ends)};
}

float rocket_bias(std::span<const float> ascending, float quantile) {
  const double place = static_cast<double>(quantile) * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, ascending.size() - 1);
  const double low = ascending[below], high = ascending[above];
  return static_cast<float>(low + (place - static_cast<double>(below)) * (high - low));
}

void rocket_features(const RocketSeries& series, const RocketDilations& dilations,
                     const std::vector<std::vector<int64_t>>& channels, std::span<const float> biases,
                     std::span<float> out) {
  std::vector<float> values(static_cast<size_t>(series.steps));
  size_t feature = 0;
  for (size_t d = 0; d < dilations.dilations.size(); ++d) {
    const int64_t dilation = dilations.dilations[d];
    const auto kernels = std::span(channels).subspan(d * kRocketKernels, kRocketKernels);
    std::vector<int64_t> used;
    for (const std::vector<int64_t>& some : kernels) used.insert(used.end(), some.begin(), some.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    const RocketConvolution convolution(series, used, dilation);
    for (int64_t kernel = 0; kernel < kRocketKernels; ++kernel) {
      convolution.apply(kernel, kernels[static_cast<size_t>(kernel)], values);
      const RocketSteps counted = rocket_steps(series.steps, static_cast<int64_t>(d), dilation, kernel);
      for (int64_t i = 0; i < dilations.features[d]; ++i, ++feature) {
        int64_t above = 0;
        const float bias = biases[feature];
        for (int64_t t = counted.begin; t < counted.end; ++t)
          above += values[static_cast<size_t>(t)] > bias ? 1 : 0;
        const int64_t steps = counted.end - counted.begin;
        out[feature] = steps > 0 ? static_cast<float>(above) / static_cast<float>(steps) : 0;
      }
    }
  }
}

}  // namespace modewise::models
