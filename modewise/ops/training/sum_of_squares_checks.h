#pragma once
// Argument checks of sum_of_squares; every registered kernel calls them first.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

void check_sum_of_squares_args(const at::Tensor& x);

}  // namespace modewise::ops
