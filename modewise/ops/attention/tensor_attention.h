#pragma once
// Tensor attention: attention over a sequence folded into a tensor (Tensorized Attention, section 3 and
// Algorithm 1), its exactly causal variant with block summaries, and the baselines it is compared with.
//
// Related work: a window and pooled blocks in one softmax are in Combiner (arXiv 2107.05768) and, with one
// entry per 128 tokens, in DeepSeek-V4; a hierarchy of blocks in H-Transformer-1D and Log-Linear Attention
// (arXiv 2506.04761); block keys in landmark attention (arXiv 2305.16300), NSA and MoBA. docs/sequences.md
// compares them.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "modewise/ops/attention/rotary_embedding.h"
#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

struct TensorAttentionOptions {
  /// full: every token, or every earlier one. window: the last `window` tokens, or the `window` tokens around
  /// (sparse_attention.h), a fraction `density` of all with window = 0. lambda: the last tokens and the first
  /// `sinks` ones, at distances of at most `window` (LM-Infinite). axial: along one mode after another (the
  /// paper's Eqs. 3 and 4). pooled: the same with weights shared by all fibres (Fig. 2). summary: the window
  /// and learned summary tokens of complete blocks, in one softmax. random, topk: a random sample of the
  /// tokens, or those with the largest logits.
  std::string type = "summary";
  /// n_1 … n_m, the last mode fastest; n_1 = 0: as large as the sequence needs. The sequence must fit in the
  /// fold, except for type summary, whose n_1 is the number of outermost blocks that a token is trained on:
  /// more blocks have the same total weight (SummaryOptions::fold); n_1 = 0: no limit.
  std::vector<int64_t> fold = {};
  /// axial, pooled: only along the last `modes` modes, so that blocks of n_{m−modes+1}·…·n_m tokens are
  /// independent; 0: along all.
  int64_t modes = 0;
  int64_t window = 0;  // attended tokens, the token itself included; 0: 2·n_m (summary), or by density
  int64_t sinks = 0;
  double density = 0.1;  // random, topk, window: fraction of the tokens attended to
  bool causal = true;    // full, window, axial, random, topk; lambda and summary always are, pooled never is
  double scale = 0;      // of the logits; 0: 1/√d, and for pooled 1/√(d·n/n_i)
  double dropout = 0;    // of the weights, in training; not for lambda, summary and causal window
  DropoutKey key = {};
};

/// q [B, n, H, d], k [B, n, G, d], v [B, n, G, e] -> [B, n, H, e]; query head h uses key head h·G/H. q and k
/// are not rotated yet: `rotary` is applied to the positions that the type compares. latents [at least m−1,
/// G, r, d], type summary with m ≥ 2 only: latents[l] are the r queries that summarise blocks of level l+1
/// (of n_m tokens, then of n_{m−1} such blocks, …): a = softmax(z Kᵀ), r summary tokens with keys a K and
/// values a V. Zeros give mean pooling.
///
/// token_mask [B, n] bool (true: valid): values of masked tokens never affect other tokens, and valid tokens
/// give the results of the sequence without trailing padding; not combined with a rotary embedding in types
/// summary, lambda and causal window. A row without any valid token is 0 (summary: unspecified). Sequences
/// need not fill the fold. float32, float64, bfloat16 (softmax in float32).
at::Tensor tensor_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const TensorAttentionOptions& options, const at::Tensor& latents = {},
                            const RotaryEmbedding& rotary = {},
                            const std::optional<at::Tensor>& token_mask = {});

/// Raises ValueError for invalid options or shapes.
void check_tensor_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const TensorAttentionOptions& options, const at::Tensor& latents,
                                 const RotaryEmbedding& rotary, const std::optional<at::Tensor>& token_mask);
/// Window in tokens: options.window, or its default; n for types without a window.
int64_t window_of(const TensorAttentionOptions& options, int64_t n);

}  // namespace modewise::ops
