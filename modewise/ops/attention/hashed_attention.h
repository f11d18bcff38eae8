#pragma once
// Attention among tokens that hash alike: Reformer's (Kitaev, Kaiser and Levskaya, ICLR 2020), whose cost
// grows as n times the length of a chunk.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace modewise::ops {

/// q [B, n, H, d], which are keys too, v [B, n, H, e] -> [B, n, H, e]. Keys are queries of length 1: k = q /
/// √(|q|² + 10⁻⁶ d); logits are q kᵀ. In round r the bucket of a token is the largest of (x, −x), x = q
/// R_r with rotations [rounds, H, d, buckets / 2]; tokens are sorted by bucket, then place, and cut into
/// chunks of `chunk`; a token sees those of its bucket in its own chunk and the one before. A token sees
/// itself by a logit that is lower by 10⁵: only where it sees no other. What several rounds show is weighed
/// once: logits are lower by the logarithm of how many rounds show it, and the rounds are joined by the
/// logarithms of their sums (appendix A). token_mask [B, n] bool, true = valid: the others stand last in the
/// order and are seen by none; their rows are 0.
at::Tensor hashed_attention(const at::Tensor& q, const at::Tensor& v, const at::Tensor& rotations,
                            const std::optional<at::Tensor>& token_mask, int64_t chunk);

}  // namespace modewise::ops
