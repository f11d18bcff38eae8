#pragma once
// Pooling of a token tensor onto each of its modes (HOT, section 4.2, g_pool), all modes in one pass.

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace modewise::ops {

enum class Pooling { sum, mean };

/// x [B, N_1 … N_k, D] -> for each mode i a [B, N_i, D]: sum or mean over all other modes. With `token_mask`
/// [B, N_1 … N_k] bool only valid cells are pooled (mean over valid cells, 0 without any) and values of
/// invalid cells, NaN included, do not affect the result. Accumulates in float32 for bfloat16.
std::vector<at::Tensor> mode_pool(const at::Tensor& x, Pooling pooling,
                                  const std::optional<at::Tensor>& token_mask = {});

}  // namespace modewise::ops
