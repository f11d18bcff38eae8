#pragma once
// Linformer's projection of tokens (Wang et al. 2020, Eq. 7): E k and F v in place of keys k and values v.

#include <ATen/core/Tensor.h>

#include <optional>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

/// E or F at the start, [K, N]: normal with deviation 1/√N.
at::Tensor initial_projection(Initializer& init, int64_t projected, int64_t tokens);

/// tokens [B, n, D], projection [K, N] of which the first n ≤ N columns act -> [B, K, D]. Tokens that mask
/// [B, n] names false count as zeros. Throws a ValueError where n > N.
at::Tensor projected_tokens(const at::Tensor& tokens, const at::Tensor& projection,
                            const std::optional<at::Tensor>& mask);

}  // namespace modewise::nn
