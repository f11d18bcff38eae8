#pragma once
// Quantile forecasts that cannot cross: the middle level is free, each further level is the one before it
// plus or minus a positive step.

#include <ATen/core/Tensor.h>

namespace modewise::nn {

/// raw [..., Q] -> the middle level [...] (index Q/2) and the differences of all levels from it [..., Q],
/// ascending, 0 in the middle: cumulative sums of softplus(raw).
struct QuantileParts {
  at::Tensor middle, differences;
};
QuantileParts split_quantiles(const at::Tensor& raw);

}  // namespace modewise::nn
