#pragma once
// One-dimensional minimization on an interval.

#include <cmath>
#include <limits>

namespace modewise::models {

/// Minimizer of `f` in [low, high]: best of 33 evenly spaced points, then golden-section search between its
/// neighbours, to 1e-10 of the interval. May miss minima narrower than the spacing.
template <class Function>
double minimum_on_interval(double low, double high, const Function& f) {
  constexpr int kPoints = 33;
  constexpr double kGolden = 0.6180339887498949;
  const double step = (high - low) / (kPoints - 1);
  double best = std::numeric_limits<double>::infinity(), at = low;
  for (int i = 0; i < kPoints; ++i)
    if (const double value = f(low + i * step); value < best) best = value, at = low + i * step;
  double left = std::fmax(at - step, low), right = std::fmin(at + step, high);
  double a = right - kGolden * (right - left), b = left + kGolden * (right - left);
  double fa = f(a), fb = f(b);
  while (right - left > 1e-10 * (high - low)) {
    if (fa <= fb) {
      right = b, b = a, fb = fa;
      a = right - kGolden * (right - left), fa = f(a);
    } else {
      left = a, a = b, fa = fb;
      b = left + kGolden * (right - left), fb = f(b);
    }
  }
  const double found = (left + right) / 2;
  return f(found) < best ? found : at;  // returns a bound exactly
}

}  // namespace modewise::models
