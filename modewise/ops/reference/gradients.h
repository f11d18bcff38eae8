#pragma once
// Gradients of the reference kernels by ATen's autograd: the formula is evaluated again and recorded.

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace modewise::ops::reference {

using Tensors = std::vector<at::Tensor>;

/// Gradients of `inputs` through `formula`, with its results weighted by `grads`: one per input, with its
/// shape and dtype, empty [0] where `wanted` is false or the input is undefined. Works in no-grad mode too.
Tensors gradients(const std::function<Tensors(const Tensors&)>& formula, const Tensors& inputs,
                  const Tensors& grads, std::vector<bool> wanted);
/// Gradients of all inputs.
Tensors gradients(const std::function<Tensors(const Tensors&)>& formula, const Tensors& inputs,
                  const Tensors& grads);

}  // namespace modewise::ops::reference
