#pragma once
// Products of batches of matrices, with bits that do not depend on the number of threads.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// a [..., M, K] · b [..., K, N] -> [..., M, N]; the leading sizes are broadcast as in torch. Both have one
/// dtype; sums are taken in float32 for bfloat16. Differentiable any number of times.
at::Tensor matmul(const at::Tensor& a, const at::Tensor& b);

}  // namespace modewise::ops
