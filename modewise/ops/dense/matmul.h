#pragma once
// Batched matrix product (GEMM), deterministic for any number of threads.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// a [..., M, K] · b [..., K, N] -> [..., M, N]; batch dimensions broadcast as in torch. Both have one dtype;
/// sums are accumulated in float32 for bfloat16. Differentiable any number of times.
at::Tensor matmul(const at::Tensor& a, const at::Tensor& b);

}  // namespace modewise::ops
