#pragma once
// The softmax of the last dimension with gradients whose bits do not depend on the number of threads:
// libtorch's do, for row lengths that are no multiple of the vector.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// softmax(x) [..., N] as x; differentiable once.
at::Tensor softmax(const at::Tensor& x);

}  // namespace modewise::ops
