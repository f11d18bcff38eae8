#pragma once
// Argument checks of mode_product and mode_contract; every registered kernel calls them first.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

void check_mode_product_args(const at::Tensor& x, const at::Tensor& factor, int64_t mode);
void check_mode_contract_args(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads);

}  // namespace modewise::ops
