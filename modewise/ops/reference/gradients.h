#pragma once
// Gradients of the references by ATen's own rules: a formula is computed once more and recorded.

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace modewise::ops::reference {

using Tensors = std::vector<at::Tensor>;

/// The gradients in `inputs` of what `formula` makes of them, results weighted by `grads`: one each input, of
/// its shape and type, empty [0] where `wanted` says no or the input is undefined. May be called where
/// nothing is recorded.
Tensors gradients(const std::function<Tensors(const Tensors&)>& formula, const Tensors& inputs,
                  const Tensors& grads, std::vector<bool> wanted);
/// All of them.
Tensors gradients(const std::function<Tensors(const Tensors&)>& formula, const Tensors& inputs,
                  const Tensors& grads);

}  // namespace modewise::ops::reference
