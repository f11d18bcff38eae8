#pragma once
// Activation checkpointing (recomputation, Chen et al. 2016): a block keeps only its input and runs again in
// the backward pass. Memory falls from all activations to one input per block; results stay bit-identical,
// since every operator here gives the same bits when it runs again.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <functional>

namespace modewise::nn {

/// block(x) without keeping its activations. `block` must depend only on x and the parameters of `module`;
/// the module must outlive the backward pass.
at::Tensor recomputed(const at::Tensor& x, const torch::nn::Module& module,
                      std::function<at::Tensor(const at::Tensor&)> block);

}  // namespace modewise::nn
