#pragma once
// Argument checks of matmul; every registered kernel calls them first.

#include <ATen/core/Tensor.h>

#include <vector>

namespace modewise::ops {

void check_matmul_args(const at::Tensor& a, const at::Tensor& b);

/// Batch dimensions of the result.
std::vector<c10::SymInt> matmul_batch(const at::Tensor& a, const at::Tensor& b);

}  // namespace modewise::ops
