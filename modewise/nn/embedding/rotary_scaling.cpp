#include "modewise/nn/embedding/rotary_scaling.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "modewise/core/error.h"

namespace modewise::nn {
namespace {

/// base^(−2i/d) in float64; transformers computes it in float32, the difference is below 1e-7.
std::vector<double> plain_frequencies(double base, int64_t width) {
  std::vector<double> out;
  for (int64_t i = 0; i < width / 2; ++i)
    out.push_back(std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width)));
  return out;
}

/// The dimension pair that rotates `rotations` times within the original length (YaRN, appendix A).
double yarn_dimension(const RotaryScaling& scaling, double rotations, int64_t width) {
  return static_cast<double>(width) *
         std::log(static_cast<double>(scaling.original_length) / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(scaling.base));
}

void scale_yarn(const RotaryScaling& scaling, int64_t width, std::vector<double>& frequencies) {
  if (scaling.divide_all) {
    for (double& frequency : frequencies) frequency /= scaling.factor;
    return;
  }
  double low = yarn_dimension(scaling, scaling.beta_fast, width);
  double high = yarn_dimension(scaling, scaling.beta_slow, width);
  if (scaling.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(width - 1));
  if (low == high) high += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] *= ramp / scaling.factor + (1 - ramp);
  }
}

void scale_llama3(const RotaryScaling& scaling, std::vector<double>& frequencies) {
  const auto length = static_cast<double>(scaling.original_length);
  for (double& frequency : frequencies) {
    const double wave = 2 * std::numbers::pi / frequency;
    if (wave > length / scaling.low_frequency_factor) {
      frequency /= scaling.factor;
    } else if (wave >= length / scaling.high_frequency_factor) {
      const double smooth = (length / wave - scaling.low_frequency_factor) /
                            (scaling.high_frequency_factor - scaling.low_frequency_factor);
      frequency *= (1 - smooth) / scaling.factor + smooth;
    }
  }
}

}  // namespace

std::vector<double> rotary_frequencies(const RotaryScaling& scaling, int64_t head_width) {
  const auto width = static_cast<double>(head_width);
  const double base = scaling.kind == "ntk" && head_width > 2
                          ? scaling.base * std::pow(scaling.factor, width / (width - 2))
                          : scaling.base;
  std::vector<double> out = plain_frequencies(base, head_width);
  if (scaling.kind == "linear")
    for (double& frequency : out) frequency /= scaling.factor;
  else if (scaling.kind == "yarn")
    scale_yarn(scaling, head_width, out);
  else if (scaling.kind == "llama3")
    scale_llama3(scaling, out);
  else
    require(scaling.kind == "none" || scaling.kind == "ntk", ErrorKind::internal,
            "unknown rotary scaling '{}'", scaling.kind);
  return out;
}

double rotary_gain(const RotaryScaling& scaling) {
  if (scaling.kind != "yarn") return 1;
  if (scaling.gain > 0) return scaling.gain;
  return scaling.factor <= 1 ? 1 : 0.1 * std::log(scaling.factor) + 1;
}

bool compares_lengths(const RotaryScaling& scaling) {
  return scaling.kind == "yarn" || scaling.kind == "llama3";
}

RotaryScaling level_scaling(const RotaryScaling& scaling, int64_t original, int64_t extended) {
  if (!compares_lengths(scaling)) return scaling;
  RotaryScaling out = scaling;
  out.original_length = original;
  out.factor = static_cast<double>(extended) / static_cast<double>(original);
  out.divide_all = static_cast<double>(original) < scaling.beta_slow * 2 * std::numbers::pi;
  if (extended == original) out.kind = "none";
  return out;
}

ops::RotaryEmbedding rotary_embedding(const std::vector<RotaryScaling>& levels, int64_t head_width) {
  ops::RotaryEmbedding out;
  out.frequencies = at::empty({std::ssize(levels), head_width / 2}, at::kDouble);
  auto* to = out.frequencies.mutable_data_ptr<double>();
  for (const RotaryScaling& level : levels) {
    to = std::ranges::copy(rotary_frequencies(level, head_width), to).out;
    out.gains.push_back(rotary_gain(level));
  }
  return out;
}

}  // namespace modewise::nn
