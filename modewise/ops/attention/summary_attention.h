#pragma once
// Summary attention: causal attention to a window, the first tokens (attention sinks) and summary tokens of
// complete blocks, in one softmax: the fused operator of types summary, window and lambda of
// tensor_attention.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "modewise/ops/attention/rotary_embedding.h"

namespace modewise::ops {

struct SummaryOptions {
  /// n_1 … n_m. Where a token attends to s > n_1 blocks of the outermost level, ln(s / n_1) is subtracted
  /// from their logits, so that their total weight is that of n_1 blocks. n_1 = 0: no such limit.
  std::vector<int64_t> fold;
  int64_t window = 1;  // attended tokens, the token itself included
  int64_t sinks = 0;   // first tokens that stay visible (attention sinks), at distance `window`
  double scale = 1;    // of the logits
};

/// q [B, n, H, d], k [B, n, G, d], v [B, n, G, e], latents [m−1, G, r, d] (none for m = 1) -> (out [B, n, H,
/// e], logsumexp of the logits [B, H, n] in the accumulate type, not differentiable).
std::tuple<at::Tensor, at::Tensor> summary_attention(const at::Tensor& q, const at::Tensor& k,
                                                     const at::Tensor& v,
                                                     const std::optional<at::Tensor>& latents,
                                                     const SummaryOptions& options,
                                                     const RotaryEmbedding& rotary);

void check_summary_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const std::optional<at::Tensor>& latents, const SummaryOptions& options,
                                  const RotaryEmbedding& rotary);

/// Checks arguments of summary_attention_backward: grad and out are [B, n, H, e], logsumexp [B, H, n].
void check_summary_results(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& logsumexp,
                           const at::Tensor& q, const at::Tensor& v);

/// Gradients of q, k, v and latents (undefined without latents).
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> summary_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& latents, const at::Tensor& out, const at::Tensor& logsumexp,
    const SummaryOptions& options, const RotaryEmbedding& rotary);

}  // namespace modewise::ops
