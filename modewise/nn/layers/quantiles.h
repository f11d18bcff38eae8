#pragma once
// Non-crossing quantile outputs: the middle level is unconstrained, each further level adds or subtracts a
// positive step.

#include <ATen/core/Tensor.h>

namespace modewise::nn {

/// Splits raw [..., Q] into the middle level [...] (index Q/2) and the differences of all levels from it
/// [..., Q]: cumulative sums of softplus(raw), ascending, 0 in the middle.
struct QuantileParts {
  at::Tensor middle, differences;
};
QuantileParts split_quantiles(const at::Tensor& raw);

}  // namespace modewise::nn
