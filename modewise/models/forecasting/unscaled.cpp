#include "modewise/models/forecasting/unscaled.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace modewise::models {
namespace {

constexpr int kMaxDigits = 17;  // of a float64
constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};  // exact in float64
constexpr int kMaxPower = kPowers.size() - 1;

/// The multiple of 10^power nearest to x.
double rounded(double x, int power) {
  const double unit = kPowers[static_cast<size_t>(std::abs(power))];
  return power < 0 ? std::nearbyint(x * unit) / unit : std::nearbyint(x / unit) * unit;
}

}  // namespace

double unscaled(float scaled, double mean, double stddev) {
  const auto scales_to_it = [&](double x) { return static_cast<float>((x - mean) / stddev) == scaled; };
  if (scales_to_it(0)) return 0;
  const double near = static_cast<double>(scaled) * stddev + mean;
  if (near == 0 || !std::isfinite(near)) return near;
  const int above = static_cast<int>(std::floor(std::log10(std::abs(near)))) + 1;
  const int last = std::max(above - kMaxDigits, -kMaxPower);
  for (int power = std::min(above, kMaxPower); power >= last; --power)
    if (const double x = rounded(near, power); scales_to_it(x)) return x;
  return near;
}

}  // namespace modewise::models
