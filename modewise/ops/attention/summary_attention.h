#pragma once
// Causal attention to the tokens of a window, to the first tokens, and to summaries of finished blocks, in
// one softmax: the fused operator under the forms causal, window and lambda of tensor_attention.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "modewise/ops/attention/rotary_embedding.h"

namespace modewise::ops {

struct SummaryOptions {
  /// n_1 … n_m. There may be more than n_1 blocks of the coarsest level: where a token sees s > n_1 of them,
  /// ln(s / n_1) is taken from their logits, so that they keep the share of the weight that n_1 had. 0: they
  /// do not.
  std::vector<int64_t> fold;
  int64_t window = 1;  // tokens seen, a token itself included
  int64_t sinks = 0;   // first tokens that stay visible, at a distance of `window`
  double scale = 1;    // of the logits
};

/// q [B, n, H, d], k [B, n, G, d], v [B, n, G, e], latents [m−1, G, r, d] (no tensor when m = 1) ->
/// (out [B, n, H, e], logsumexp of the logits [B, H, n] in the accumulate type, without gradient).
std::tuple<at::Tensor, at::Tensor> summary_attention(const at::Tensor& q, const at::Tensor& k,
                                                     const at::Tensor& v,
                                                     const std::optional<at::Tensor>& latents,
                                                     const SummaryOptions& options, const RotaryEmbedding& rotary);

void check_summary_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const std::optional<at::Tensor>& latents, const SummaryOptions& options,
                                  const RotaryEmbedding& rotary);

/// Checks the arguments of summary_attention_backward: grad and out are [B, n, H, e], logsumexp [B, H, n].
void check_summary_results(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& logsumexp,
                           const at::Tensor& q, const at::Tensor& v);

/// Gradients of q, k, v and latents (undefined without latents).
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> summary_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& latents, const at::Tensor& out, const at::Tensor& logsumexp,
    const SummaryOptions& options, const RotaryEmbedding& rotary);

}  // namespace modewise::ops
