#pragma once
// Argument checks of mode_pool, and its gradient.

#include <ATen/core/Tensor.h>
#include <c10/util/string_view.h>

#include "modewise/ops/attention/mode_pool.h"

namespace modewise::ops {

/// Parses "sum" or "mean", otherwise raises a ValueError that names `op`.
Pooling pooling_from(const char* op, c10::string_view name);
c10::string_view name_of(Pooling pooling);

void check_mode_pool_args(const at::Tensor& x, const std::optional<at::Tensor>& token_mask);
void check_mode_pool_backward_args(at::TensorList grads, c10::SymIntArrayRef sizes,
                                   const std::optional<at::Tensor>& token_mask);

/// Gradient of x with shape `sizes` from one gradient [B, N_i, D] per mode.
at::Tensor mode_pool_backward(at::TensorList grads, c10::SymIntArrayRef sizes, c10::string_view pooling,
                              const std::optional<at::Tensor>& token_mask);

}  // namespace modewise::ops
