#pragma once
// Σ x² by a fixed reduction tree, for gradient norms that do not depend on the number of threads.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// x of any shape -> float64 scalar: blocks of 4096 elements in 8 lanes, then a pairwise sum of blocks.
at::Tensor sum_of_squares(const at::Tensor& x);

}  // namespace modewise::ops
