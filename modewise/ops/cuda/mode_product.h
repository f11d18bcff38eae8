#pragma once
// mode_product and mode_contract by Triton kernels, which read every mode by its strides.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace modewise::ops::cuda {

/// Arguments as those of the operators (dense/mode_product.h).
std::string mode_product_refuses(const at::Tensor& x, const at::Tensor& factor, int64_t mode);
at::Tensor mode_product(const at::Tensor& x, const at::Tensor& factor, int64_t mode);
std::string mode_contract_refuses(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads);
/// The fibres are split into ranges of fixed length, whose sums are added in order.
at::Tensor mode_contract(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads);

}  // namespace modewise::ops::cuda
