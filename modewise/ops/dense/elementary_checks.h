#pragma once
// Argument checks of elementary.

#include <ATen/core/Tensor.h>

#include <string_view>

namespace modewise::ops {

void check_elementary_args(const at::Tensor& x, std::string_view function);

}  // namespace modewise::ops
