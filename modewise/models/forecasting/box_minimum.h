#pragma once
// Bound-constrained minimization of a smooth function (projected BFGS).

#include <functional>
#include <span>
#include <vector>

namespace modewise::models {

/// Returns the value at x and writes the gradient to `gradient`; non-finite where undefined.
using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct BoxMinimum {
  std::vector<double> x;
  double value = 0;
  int evaluations = 0;
};

/// Projected BFGS (Bertsekas 1982): variables at an active bound stay fixed, the others take a quasi-Newton
/// step, projected to the bounds, with Armijo backtracking. Stops when no free gradient exceeds
/// `gradient_limit`, when steps stop lowering the value, or after `maximum` evaluations. Finds a local
/// minimum; `start` must be within the bounds and the function finite there.
BoxMinimum minimum_in_box(const SmoothFunction& function, std::vector<double> start,
                          std::span<const double> low, std::span<const double> high, double gradient_limit,
                          int maximum);

}  // namespace modewise::models
