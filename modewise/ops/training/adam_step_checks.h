#pragma once
// Argument checks of adam_step; every registered kernel calls them first.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

void check_adam_step_args(const at::Tensor& parameter, const at::Tensor& gradient,
                          const at::Tensor& first_moment, const at::Tensor& second_moment);

}  // namespace modewise::ops
