#pragma once
// Attention matrices over tokens, for any attention that is linear in its values.

#include <ATen/core/Tensor.h>

#include <functional>

#include "modewise/ops/attention/tensor_attention.h"

namespace modewise::nn {

/// q [B, n, H, d], k [B, n, G, d], latents and rotary as for ops::tensor_attention -> [B, H, n, n]: row i
/// holds the weight of each token's value in token i; rows sum to 1. Attention is linear in the values, so
/// unit vectors as values give the matrix. A summary's weight is spread over the tokens that it pools.
/// Computed in float32 or wider.
at::Tensor attention_matrix(const at::Tensor& q, const at::Tensor& k,
                            const ops::TensorAttentionOptions& options, const at::Tensor& latents = {},
                            const ops::RotaryEmbedding& rotary = {});

/// The same for any attention that is linear in its values: `attend` maps values [B, n, H, e] to
/// [B, n, H, e] for the queries q [B, n, H, d], in their dtype.
at::Tensor attention_matrix(const at::Tensor& q, const std::function<at::Tensor(const at::Tensor&)>& attend);

}  // namespace modewise::nn
