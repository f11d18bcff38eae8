#include "modewise/models/forecasting/box_minimum.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace modewise::models {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// BFGS estimate of the inverse Hessian, P × P.
class InverseHessian {
 public:
  explicit InverseHessian(size_t size) : size_(size), values_(size * size) { reset(1); }

  void reset(double diagonal) {
    std::fill(values_.begin(), values_.end(), 0.0);
    for (size_t i = 0; i < size_; ++i) values_[i * size_ + i] = diagonal;
    fresh_ = true;
  }
  std::vector<double> times(std::span<const double> x) const {
    std::vector<double> out(size_);
    for (size_t i = 0; i < size_; ++i) out[i] = dot(row(i), x);
    return out;
  }
  /// BFGS update: `step` in x changed the gradient by `change`.
  void update(std::span<const double> step, std::span<const double> change) {
    const double curvature = dot(step, change);
    if (!(curvature > 1e-12 * std::sqrt(dot(step, step) * dot(change, change)))) return;
    if (fresh_) reset(curvature / dot(change, change));
    fresh_ = false;
    const std::vector<double> pushed = times(change);
    const double scale = (1 + dot(change, pushed) / curvature) / curvature;
    for (size_t i = 0; i < size_; ++i)
      for (size_t j = 0; j < size_; ++j)
        values_[i * size_ + j] +=
            scale * step[i] * step[j] - (pushed[i] * step[j] + step[i] * pushed[j]) / curvature;
  }

 private:
  std::span<const double> row(size_t i) const { return {values_.data() + i * size_, size_}; }

  size_t size_;
  std::vector<double> values_;
  bool fresh_ = true;
};

/// Active set: variables at a bound that the gradient pushes against.
std::vector<bool> held(std::span<const double> x, std::span<const double> gradient,
                       std::span<const double> low, std::span<const double> high) {
  std::vector<bool> out(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    out[i] = (x[i] <= low[i] && gradient[i] > 0) || (x[i] >= high[i] && gradient[i] < 0);
  return out;
}

void clear(std::vector<double>& x, const std::vector<bool>& where) {
  for (size_t i = 0; i < x.size(); ++i)
    if (where[i]) x[i] = 0;
}

}  // namespace

BoxMinimum minimum_in_box(const SmoothFunction& function, std::vector<double> start,
                          std::span<const double> low, std::span<const double> high, double gradient_limit,
                          int maximum) {
  constexpr double kEnough = 1e-4;     // Armijo: fraction of the predicted decrease
  constexpr double kSmallest = 1e-12;  // smallest step factor
  constexpr double kStill = 1e-11;     // relative decrease that counts as none
  constexpr int kStills = 3;           // consecutive such steps
  const size_t size = start.size();
  BoxMinimum best{std::move(start), 0, 1};
  std::vector<double> gradient(size), next(size), next_gradient(size);
  best.value = function(best.x, gradient);
  InverseHessian inverse(size);
  std::vector<bool> bound(size), before(size);
  bool restarted = true;
  int stills = 0;
  while (best.evaluations < maximum && stills < kStills) {
    bound = held(best.x, gradient, low, high);
    if (bound != before && !restarted) inverse.reset(1), restarted = true;
    before = bound;
    std::vector<double> free = gradient;
    clear(free, bound);
    const double steepest = std::abs(*std::max_element(
        free.begin(), free.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    if (steepest <= gradient_limit) break;
    std::vector<double> direction = inverse.times(free);
    clear(direction, bound);
    if (!(dot(direction, free) > 0)) inverse.reset(1), restarted = true, direction = free;
    double share = restarted ? std::min(1.0, 0.1 / steepest) : 1.0, value = 0;
    bool lower = false;
    for (; share > kSmallest && best.evaluations < maximum; share /= 2) {
      double promised = 0;
      for (size_t i = 0; i < size; ++i) {
        next[i] = std::clamp(best.x[i] - share * direction[i], low[i], high[i]);
        promised += gradient[i] * (best.x[i] - next[i]);
      }
      value = function(next, next_gradient);
      ++best.evaluations;
      lower = std::isfinite(value) && value <= best.value - kEnough * promised && promised > 0;
      if (lower) break;
    }
    if (!lower) {
      if (restarted) break;  // steepest descent fails too
      inverse.reset(1), restarted = true;
      continue;
    }
    std::vector<double> step(size), change(size);
    for (size_t i = 0; i < size; ++i)
      step[i] = next[i] - best.x[i], change[i] = next_gradient[i] - gradient[i];
    clear(change, bound);
    restarted = false;
    inverse.update(step, change);
    stills = best.value - value <= kStill * (1 + std::abs(value)) ? stills + 1 : 0;
    best.x = next, best.value = value, gradient = next_gradient;
  }
  return best;
}

}  // namespace modewise::models
