#pragma once
// Σ x² along a fixed tree, for norms that must be the same for any number of threads.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// x of any shape -> float64 scalar: blocks of 4096 elements in 8 lanes each, then the block sums pairwise.
at::Tensor sum_of_squares(const at::Tensor& x);

}  // namespace modewise::ops
