#pragma once
// The smallest value of a smooth function of many numbers, some of which are kept within bounds.

#include <functional>
#include <span>
#include <vector>

namespace modewise::models {

/// A function's value at x, with its gradient written into `gradient`; not finite where it is not defined.
using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct BoxMinimum {
  std::vector<double> x;
  double value = 0;
  int evaluations = 0;
};

/// BFGS with projection (Bertsekas 1982): numbers at a bound that the gradient pushes against stay there, the
/// others take a quasi-Newton step that is cut at the bounds and halved until it lowers the function enough
/// (Armijo). Stops where no free gradient is above `gradient_limit`, where steps lower the value no more, or
/// after `most` evaluations. A local minimum; `start` must be within the bounds and the function finite
/// there.
BoxMinimum minimum_in_box(const SmoothFunction& function, std::vector<double> start,
                          std::span<const double> low, std::span<const double> high, double gradient_limit,
                          int maximum);

}  // namespace modewise::models
