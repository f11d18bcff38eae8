#pragma once
// Multi-head self-attention over a token tensor [B, N_1 … N_k, D]: Kronecker (one factor per mode), full (all
// tokens to all tokens), and along some modes with the others fixed.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "modewise/nn/attention/feature_draw.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/ops/attention/kronecker_attention.h"
#include "modewise/ops/attention/random_features.h"

namespace modewise::nn {

/// LayerNorm per head over [..., D].
at::Tensor norm_heads(const at::Tensor& x, int64_t heads, const LayerNorm& norm);

/// Rotary embedding (ops::rotary) of the tokens x [B, N_1 … N_k, D] for heads of width d: `modes` share the
/// d/2 frequencies equally; left-over channels are not rotated. No modes: x itself.
at::Tensor rotate_heads(const at::Tensor& x, int64_t heads, at::IntArrayRef modes, double base);

/// Source of keys and values for cross-attention: tokens [B, M_1 … M_j, D], padding mask [B, M_1 … M_j] bool
/// (true: valid).
struct Memory {
  at::Tensor tokens;
  std::optional<at::Tensor> mask;
};

/// Key-value cache: projected keys and values of the tokens so far.
struct TokenCache {
  at::Tensor keys;    // [B, m, D]; undefined for attention without keys
  at::Tensor values;  // [B, m, D]; undefined before the first token
};

class Attention : public torch::nn::Module {
 public:
  /// x [B, N_1 … N_k, D], mask [B, N_1 … N_k] bool (true: valid) -> [B, N_1 … N_k, D].
  virtual at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) = 0;
  /// Cross-attention: the same with keys and values from `memory`. Throws a ValueError for attention types
  /// whose weights are tied to the modes of x.
  virtual at::Tensor attend(const at::Tensor& x, const Memory& memory);
  /// The Kronecker factors S_i [B, H, N_i, N_i]; empty for attention types without factors.
  virtual std::vector<at::Tensor> factors(const at::Tensor& x, const std::optional<at::Tensor>& mask);
  /// The attention matrix [B, H, N, N] over all tokens; undefined for types without one. Only this call forms
  /// it.
  virtual at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask);
  /// The cross-attention matrix of `attend`, [B, H, N, M]; undefined for types without token weights.
  virtual at::Tensor attend_matrix(const at::Tensor& x, const Memory& memory);

  /// Incremental decoding: appends x [B, 1, D] to `cache` and returns the last row of `forward` over all
  /// cached tokens. Throws a ValueError unless the attention is causal.
  virtual at::Tensor step(const at::Tensor& x, TokenCache& cache);
  /// The cache of a memory's tokens [B, M_1 … M_j, D] that attend_step reads.
  virtual TokenCache remembered(const at::Tensor& tokens);
  /// Rows of `attend` for tokens at position `place` (from 0) of their sequences, c sequences per memory: x
  /// [B, c, D] -> [B, c, D].
  virtual at::Tensor attend_step(const at::Tensor& x, const TokenCache& memory, int64_t place);
};

/// Kronecker attention of HOT. State names as in the released code: query_proj and key_proj [k·D, D],
/// mode-major; value_proj, out_proj [D, D]; q_norm, k_norm of width d, shared by modes and heads.
class KroneckerAttention : public Attention {
 public:
  /// The module sets `options.dropout`, `options.key` and `options.feature_seed`; `modes` is k. `draw`: how
  /// the linear kernel's random features are drawn. `mode_masks`: empty, or the mask of each mode
  /// (mode_mask.h), kernel softmax only.
  KroneckerAttention(Initializer& init, int64_t width, int64_t modes, bool query_key_norm, double dropout,
                     ops::KroneckerAttentionOptions options, FeatureDrawOptions draw = {},
                     std::vector<std::string> mode_masks = {});

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  std::vector<at::Tensor> factors(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;

 private:
  ops::KroneckerAttentionWeights weights(const at::Tensor& like) const;
  /// The options without dropout.
  ops::KroneckerAttentionOptions options_now() const;
  std::vector<std::optional<at::Tensor>> masks(const at::Tensor& x) const;

  ops::KroneckerAttentionOptions options_;
  std::vector<std::string> mode_masks_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  std::shared_ptr<LayerNorm> query_norm_, key_norm_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<FeatureDraw> feature_draw_;  // null: the dropout site seeds the features
};

/// The tokens that a query attends to in TokenAttention.
enum class AttentionScope {
  all,       // all tokens
  spatial,   // tokens of the same time patch
  temporal,  // tokens of the same series
};

struct TokenAttentionOptions {
  AttentionScope scope = AttentionScope::all;
  bool query_key_norm = true;
  double dropout = 0;                      // of the attention weights
  std::vector<int64_t> rotary_modes = {};  // token modes with rotary embedding
  double rotary_base = 10000;
  int64_t features = -1;         // −1: softmax; 0: the default number of random features; else their number
  bool regularised = false;      // as for ops::orthogonal_projection
  bool causal = false;           // causal mask in row-major order; needs scope `all`, softmax, no rotary
  FeatureDrawOptions draw = {};  // of the random features
};

/// Softmax attention between tokens; the last token mode is time. With scope `all`, positive random features
/// (Performer) may replace the softmax: linear instead of quadratic cost in the number of tokens.
class TokenAttention : public Attention {
 public:
  TokenAttention(Initializer& init, int64_t width, int64_t heads, TokenAttentionOptions options);

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  /// Needs scope `all` and no rotary embedding: positions of x and of the memory are not comparable.
  at::Tensor attend(const at::Tensor& x, const Memory& memory) override;
  at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  at::Tensor attend_matrix(const at::Tensor& x, const Memory& memory) override;
  at::Tensor step(const at::Tensor& x, TokenCache& cache) override;
  TokenCache remembered(const at::Tensor& tokens) override;
  at::Tensor attend_step(const at::Tensor& x, const TokenCache& memory, int64_t place) override;

 private:
  // After q/k norm and rotary embedding, in the shape of x.
  at::Tensor queries(const at::Tensor& x) const;
  at::Tensor keys(const at::Tensor& x) const;
  /// Random features of all tokens, flattened to one mode.
  ops::RandomFeatures features_of(const at::Tensor& q, const at::Tensor& k,
                                  const std::optional<at::Tensor>& mask) const;
  at::Tensor attend_all(const at::Tensor& q, const at::Tensor& k, const Memory& memory, bool causal) const;
  void check_elsewhere() const;

  int64_t heads_;
  TokenAttentionOptions options_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  std::shared_ptr<LayerNorm> query_norm_, key_norm_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<FeatureDraw> feature_draw_;  // null: the dropout site seeds the features
};

}  // namespace modewise::nn
