#pragma once
// Chunked cross-entropy loss of a language model (fused linear cross-entropy): neither the logits [n, V] nor
// their gradient are ever materialised whole.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace modewise::ops {

/// hidden [..., D], head [V, D], targets [...] int64 below V -> scalar: mean of −log softmax(head ·
/// hidden)[target] over tokens with a non-negative target (negative: ignored); 0 without any. Gradients of
/// hidden and head are computed in the same pass. Softmax and sums in float32 (float64 for float64), bitwise
/// identical for any number of threads. `chunk`: tokens per chunk; 0: so many that a chunk's logits take at
/// most 32 MiB.
at::Tensor language_loss(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                         int64_t chunk = 0);

/// Per-token −log p [...] (float32 or float64), 0 where the target is negative. Not differentiable.
at::Tensor token_losses(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                        int64_t chunk = 0);

}  // namespace modewise::ops
