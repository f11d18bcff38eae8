#pragma once
// Softmax over the last dimension whose gradients are deterministic for any number of threads; libtorch's are
// not for row lengths that are not a multiple of the vector width.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// softmax(x) [..., N] in the dtype of x; differentiable once.
at::Tensor softmax(const at::Tensor& x);

}  // namespace modewise::ops
