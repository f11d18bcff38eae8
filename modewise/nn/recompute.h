#pragma once
// Activation recomputation (Chen et al. 2016): a block keeps its input alone and runs a second time in the
// backward pass. Memory falls from all activations to one input a block; results do not change by a bit,
// since every operator here gives the same bits when it runs again.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <functional>

namespace modewise::nn {

/// block(x) whose activations are not kept. `block` must be a function of x and the parameters of `module`
/// alone, and the module must outlive the backward pass.
at::Tensor recomputed(const at::Tensor& x, const torch::nn::Module& module,
                      std::function<at::Tensor(const at::Tensor&)> block);

}  // namespace modewise::nn
