#pragma once
// Axis attention: standard attention along one mode, independently for each position of the other modes, as
// in spatial-only, temporal-only and divided space-time attention.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

/// q, k, v [B, N_1 … N_k, D], projected -> [B, N_1 … N_k, D]: each fibre along `mode` attends to itself.
/// token_mask [B, N_1 … N_k] bool is the key padding mask (rows without any valid key give 0); axis_mask
/// [N_i, N_i] bool, true = may attend. `dropout` applies to the probabilities; pass 0 in evaluation.
at::Tensor axis_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                          int64_t mode, const std::optional<at::Tensor>& token_mask = {},
                          const std::optional<at::Tensor>& axis_mask = {}, double dropout = 0,
                          DropoutKey key = {});

}  // namespace modewise::ops
