#pragma once
// mode_pool and its gradient by Triton kernels: one pass over all modes.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "modewise/ops/attention/mode_pool.h"

namespace modewise::ops::cuda {

/// Arguments as those of the operators (attention/mode_pool.h, attention/mode_pool_checks.h).
std::string mode_pool_refuses(const at::Tensor& x, Pooling pooling,
                              const std::optional<at::Tensor>& token_mask);
std::vector<at::Tensor> mode_pool(const at::Tensor& x, Pooling pooling,
                                  const std::optional<at::Tensor>& token_mask);
std::string mode_pool_backward_refuses(at::TensorList grads, at::IntArrayRef sizes, Pooling pooling,
                                       const std::optional<at::Tensor>& token_mask);
at::Tensor mode_pool_backward(at::TensorList grads, at::IntArrayRef sizes, Pooling pooling,
                              const std::optional<at::Tensor>& token_mask);

}  // namespace modewise::ops::cuda
