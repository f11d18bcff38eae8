#pragma once
// Ordinary attention along one mode, for each position of the other modes on its own: spatial-only and
// temporal-only attention, and the parts of divided attention.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

/// q, k, v [B, N_1 … N_k, D], projected -> [B, N_1 … N_k, D]: each fibre along `mode` attends within itself.
/// token_mask [B, N_1 … N_k] bool removes invalid keys (rows without any key give 0); axis_mask [N_i, N_i]
/// bool, true = may attend. `dropout` acts on the probabilities; callers pass 0 in evaluation.
at::Tensor axis_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                          int64_t mode, const std::optional<at::Tensor>& token_mask = {},
                          const std::optional<at::Tensor>& axis_mask = {}, double dropout = 0,
                          DropoutKey key = {});

}  // namespace modewise::ops
