#pragma once
// Full attention over all tokens of a flattened tensor, the baseline that Kronecker attention factorises.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

/// q [B, N_1 … N_k, D], k and v [B, M_1 … M_j, D], projected -> [B, N_1 … N_k, D]: softmax(q kᵀ / √d) v over
/// all M_1·…·M_j tokens, d = D / heads. token_mask [B, M_1 … M_j] bool is the key padding mask (rows without
/// any valid key give 0). `dropout` applies to the probabilities; pass 0 in evaluation. `causal` (as many
/// keys as queries): causal mask in row-major order.
at::Tensor full_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                          const std::optional<at::Tensor>& token_mask = {}, double dropout = 0,
                          DropoutKey key = {}, bool causal = false);

}  // namespace modewise::ops
