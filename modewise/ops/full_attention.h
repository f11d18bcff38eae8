#pragma once
// Ordinary attention over all tokens of the flattened tensor: the form that Kronecker attention factorises.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "modewise/ops/dropout_key.h"

namespace modewise::ops {

/// q, k, v [B, N_1 … N_k, D], projected -> [B, N_1 … N_k, D]: softmax(q kᵀ / √d) v over all N_1·…·N_k tokens,
/// d = D / heads. token_mask [B, N_1 … N_k] bool: invalid keys are removed (rows without any key give 0).
/// `dropout` acts on the probabilities; callers pass 0 in evaluation.
at::Tensor full_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                          const std::optional<at::Tensor>& token_mask = {}, double dropout = 0,
                          DropoutKey key = {});

}  // namespace modewise::ops
