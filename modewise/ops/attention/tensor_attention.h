#pragma once
// Attention of a sequence folded into a tensor (Tensorized Attention, section 3 and Algorithm 1), its exactly
// causal form by summaries of blocks, and the forms they are compared with.
//
// The causal form has neighbours: a window beside pooled blocks in one softmax is in Combiner (arXiv
// 2107.05768) and, with one entry a 128 tokens, in DeepSeek-V4; a hierarchy of blocks in H-Transformer-1D and
// Log-Linear Attention (arXiv 2506.04761); block keys in landmark attention (arXiv 2305.16300), NSA and MoBA.
// docs/sequences.md says what each shares.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "modewise/ops/training/dropout_key.h"
#include "modewise/ops/attention/rotary_embedding.h"

namespace modewise::ops {

struct TensorAttentionOptions {
  /// full: every token, or every earlier one. window: the last `window` tokens, or the `window` tokens around
  /// (sparse_attention.h), a share `density` of all with window = 0. lambda: the last ones and the first
  /// `sinks` ones, at distances of at most `window` (LM-Infinite). axial: along one mode after another at
  /// fixed positions of the others (the paper's Eqs. 3 and 4). pooled: along one mode after another with
  /// weights that all fibres share (the paper's Fig. 2). causal: the window and learned summaries of finished
  /// blocks, in one softmax. random, topk: a drawn share of the tokens, or those with the largest logits.
  std::string form = "causal";
  /// n_1 … n_m, the last mode fastest; n_1 = 0: as large as the sequence needs. The sequence must fit in the
  /// fold but in form causal, where n_1 is how many of the coarsest blocks a token is used to: of more, each
  /// gets a smaller share of the weight (SummaryOptions::fold), and with n_1 = 0 it does not.
  std::vector<int64_t> fold = {};
  /// axial, pooled: along the last `modes` modes only, so that blocks of n_{m−modes+1}·…·n_m tokens do not
  /// see each other; 0: along all.
  int64_t modes = 0;
  int64_t window = 0;  // tokens seen, a token itself included; 0: 2·n_m (form causal), or a share
  int64_t sinks = 0;
  double density = 0.1;  // random, topk, window: share of the tokens seen
  bool causal = true;    // full, window, axial, random, topk; lambda and causal always are, pooled cannot be
  double scale = 0;      // of the logits; 0: 1/√d, and for pooled 1/√(d·n/n_i)
  double dropout = 0;    // of the weights, in training; not in lambda, causal, and window where it is causal
  DropoutKey key = {};
};

/// q [B, n, H, d], k [B, n, G, d], v [B, n, G, e] -> [B, n, H, e]; query head h reads key head h·G/H. q and k
/// are not rotated yet: `rotary` is applied to the positions that a form compares. latents [at least m−1, G,
/// r, d], form causal with m ≥ 2 only: latents[l] are the r queries by which blocks of level l+1 (of n_m
/// tokens, then of n_{m−1} such blocks, …) are summarised: a = softmax(z Kᵀ), r slots with keys a K and
/// values a V. Zeros pool by the mean.
/// token_mask [B, n] bool (true: valid): nothing under a token that is not valid changes a bit elsewhere, and
/// valid ones behave as in the sequence without those behind them; with rotary codes not in form causal,
/// lambda, or window where it is causal. A row that sees no valid token is 0 (of form causal: any number).
/// Sequences that do not fill the fold are taken as they are. float32, float64, bfloat16 (softmax in
/// float32).
at::Tensor tensor_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const TensorAttentionOptions& options, const at::Tensor& latents = {},
                            const RotaryEmbedding& rotary = {}, const std::optional<at::Tensor>& token_mask = {});

/// Bad options, or shapes that do not fit them, as ValueError.
void check_tensor_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const TensorAttentionOptions& options, const at::Tensor& latents,
                                 const RotaryEmbedding& rotary, const std::optional<at::Tensor>& token_mask);
/// Tokens that a token sees nearby: options.window, or its default; n for the forms without one.
int64_t window_of(const TensorAttentionOptions& options, int64_t n);

}  // namespace modewise::ops
