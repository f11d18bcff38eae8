#pragma once
// Linformer's projection along the sequence (Wang et al. 2020, Eq. 7): E k and F v replace keys k and values
// v.

#include <ATen/core/Tensor.h>

#include <optional>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

/// Initial E or F, [K, N]: normal with standard deviation 1/√N.
at::Tensor initial_projection(Initializer& init, int64_t projected, int64_t tokens);

/// tokens [B, n, D], the first n ≤ N columns of projection [K, N] -> [B, K, D]. Tokens with mask [B, n] false
/// count as zeros. Throws a ValueError if n > N.
at::Tensor projected_tokens(const at::Tensor& tokens, const at::Tensor& projection,
                            const std::optional<at::Tensor>& mask);

}  // namespace modewise::nn
