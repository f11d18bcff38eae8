#pragma once
// The matrix over tokens that a form of attention amounts to, whatever the form computes in its place.

#include <ATen/core/Tensor.h>

#include <functional>

#include "modewise/ops/attention/tensor_attention.h"

namespace modewise::nn {

/// q [B, n, H, d], k [B, n, G, d], latents and rotary as for ops::tensor_attention -> [B, H, n, n]: row i is
/// how much of each token's value reaches token i; rows sum to 1. Attention is linear in the values, so the
/// matrix is what it makes of the unit vectors. A summary's weight is thus dealt to the tokens that it pools.
/// In float32 at least.
at::Tensor attention_matrix(const at::Tensor& q, const at::Tensor& k,
                            const ops::TensorAttentionOptions& options, const at::Tensor& latents = {},
                            const ops::RotaryEmbedding& rotary = {});

/// The same of any attention that is linear in its values: `attend` maps values [B, n, H, e] to [B, n, H, e]
/// for the queries q [B, n, H, d], in their type.
at::Tensor attention_matrix(const at::Tensor& q, const std::function<at::Tensor(const at::Tensor&)>& attend);

}  // namespace modewise::nn
