#pragma once
// Positive orthogonal random features of the softmax kernel (Choromanski et al. 2020, "Rethinking attention
// with Performers"), used by kernel linear (HOT of arXiv 2412.02919v1, section 4.3).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace modewise::ops {

/// Projection [features, width]: blocks of orthogonal rows, drawn from core/random (RandomSite::features,
/// step `mode`) by `seed`. Row lengths are those of independent Gaussian vectors, an unbiased estimate of the
/// softmax kernel; or all √width, `regularised`, Performer's SM-REG, an estimate of a lower bound with less
/// variance. On the device of `like`, in its accumulate type.
at::Tensor orthogonal_projection(const at::Tensor& like, int64_t width, int64_t features, int64_t seed,
                                 int64_t mode, bool regularised = false);

/// Features φ(q), φ(k) [B, H, N, M] such that S ≈ queries keysᵀ has rows of sum 1; the softmax denominator is
/// included in queries.
struct RandomFeatures {
  at::Tensor queries;
  at::Tensor keys;
};

/// q, k [B, N, H·d], projection [M, d]. exp is stabilised by the row's maximum for queries and by the maximum
/// of the (sample, head) for keys, so that samples are independent; computed in float32 or wider. key_mask
/// [B, N] bool.
RandomFeatures random_features(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                               const at::Tensor& projection, const std::optional<at::Tensor>& key_mask);

}  // namespace modewise::ops
