#pragma once
// LSH attention of Reformer (Kitaev, Kaiser and Levskaya, ICLR 2020): attention within hash buckets, with
// cost n times the chunk length.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace modewise::ops {

/// q [B, n, H, d] with shared keys, v [B, n, H, e] -> [B, n, H, e]. Keys are normalised queries, k = q /
/// √(|q|² + 10⁻⁶ d); logits are q kᵀ. In round r the bucket of a token is argmax (x, −x), x = q R_r with
/// rotations [rounds, H, d, buckets / 2]; tokens are sorted by bucket, then position, and cut into chunks of
/// `chunk`; a token attends to tokens of its bucket in its own chunk and the previous one. The logit of a
/// token with itself is lowered by 10⁵: it counts only when there is no other key. A key seen in several
/// rounds counts once: its logits are lowered by the log of the number of rounds, and the rounds are combined
/// by their logsumexp (appendix A). token_mask [B, n] bool, true = valid: masked tokens are sorted last and
/// attended to by none; their rows are 0.
at::Tensor hashed_attention(const at::Tensor& q, const at::Tensor& v, const at::Tensor& rotations,
                            const std::optional<at::Tensor>& token_mask, int64_t chunk);

}  // namespace modewise::ops
