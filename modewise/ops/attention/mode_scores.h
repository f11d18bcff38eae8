#pragma once
// Attention probabilities along one mode, from pooled and projected queries and keys.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace modewise::ops {

/// S = softmax(q kᵀ / √d) for each sample and head: q [B, N, H·d], k [B, M, H·d] -> [B, H, N, M]. key_mask
/// [B, M], or [B, H, M] per head, and mode_mask [N, M] are bool, true = may attend; rows without a key are 0.
/// Softmax in float32 or wider.
at::Tensor mode_scores(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                       const std::optional<at::Tensor>& key_mask = {},
                       const std::optional<at::Tensor>& mode_mask = {});

void check_mode_scores_args(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                            const std::optional<at::Tensor>& key_mask,
                            const std::optional<at::Tensor>& mode_mask);

/// Gradients of q and k from the scores (masked entries are 0 there, so the masks are not needed).
std::tuple<at::Tensor, at::Tensor> mode_scores_backward(const at::Tensor& grad, const at::Tensor& scores,
                                                        const at::Tensor& q, const at::Tensor& k,
                                                        int64_t heads);

}  // namespace modewise::ops
