#pragma once
// Self-attention over a token tensor [B, N_1 … N_k, D] in its forms: Kronecker (one factor a mode), full (all
// tokens against all), and along some modes at fixed others.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/attention/feature_draw.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/ops/attention/kronecker_attention.h"
#include "modewise/ops/attention/random_features.h"

namespace modewise::nn {

/// LayerNorm of each head's part of [..., D].
at::Tensor norm_heads(const at::Tensor& x, int64_t heads, const LayerNorm& norm);

/// Rotary position codes (ops::rotary) of the tokens x [B, N_1 … N_k, D] for heads of width d: the d/2
/// frequencies are shared equally among `modes`; what is left over is not turned. No modes: x itself.
at::Tensor rotate_heads(const at::Tensor& x, int64_t heads, at::IntArrayRef modes, double base);

/// Where keys and values come from when not from the tokens that ask: tokens [B, M_1 … M_j, D], mask [B, M_1
/// … M_j] bool (true: valid).
struct Memory {
  at::Tensor tokens;
  std::optional<at::Tensor> mask;
};

/// Keys and values of tokens that others attend to one after another, projected once.
struct TokenCache {
  at::Tensor keys;    // [B, m, D]; undefined in forms that compare no tokens
  at::Tensor values;  // [B, m, D]; undefined before the first token
};

class Attention : public torch::nn::Module {
 public:
  /// x [B, N_1 … N_k, D], mask [B, N_1 … N_k] bool (true: valid) -> [B, N_1 … N_k, D].
  virtual at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) = 0;
  /// The same with keys and values of `memory`. A form whose weights belong to the modes of x throws a
  /// ValueError.
  virtual at::Tensor attend(const at::Tensor& x, const Memory& memory);
  /// The factors S_i [B, H, N_i, N_i] of forms that have them.
  virtual std::vector<at::Tensor> factors(const at::Tensor& x, const std::optional<at::Tensor>& mask);
  /// The matrix over all tokens [B, H, N, N] of the form that has one; undefined elsewhere. It is formed here
  /// alone.
  virtual at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask);
  /// The weights of `attend`, [B, H, N, M]; undefined where it weighs no tokens.
  virtual at::Tensor attend_matrix(const at::Tensor& x, const Memory& memory);

  /// x [B, 1, D] joins the tokens in `cache`: the last row of `forward` over all of them. Throws a ValueError
  /// unless the form was made causal.
  virtual at::Tensor step(const at::Tensor& x, TokenCache& cache);
  /// What attend_step needs of a memory's tokens [B, M_1 … M_j, D].
  virtual TokenCache remembered(const at::Tensor& tokens);
  /// Rows of `attend` for tokens that stand at `place` (from 0) of their sequences, c sequences a memory: x
  /// [B, c, D] -> [B, c, D].
  virtual at::Tensor attend_step(const at::Tensor& x, const TokenCache& memory, int64_t place);
};

/// HOT's attention. Names in its state are those of the released code: query_proj and key_proj [k·D, D],
/// mode-major; value_proj, out_proj [D, D]; q_norm, k_norm of width d, shared by modes and heads.
class KroneckerAttention : public Attention {
 public:
  /// `options.dropout`, `options.key` and `options.feature_seed` are set by the module; `modes` is k. `draw`:
  /// of the linear kernel's features.
  KroneckerAttention(Initializer& init, int64_t width, int64_t modes, bool query_key_norm, double dropout,
                     ops::KroneckerAttentionOptions options, FeatureDrawOptions draw = {});

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  std::vector<at::Tensor> factors(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;

 private:
  ops::KroneckerAttentionWeights weights(const at::Tensor& like) const;
  /// Without dropout.
  ops::KroneckerAttentionOptions options_now() const;

  ops::KroneckerAttentionOptions options_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  std::shared_ptr<LayerNorm> query_norm_, key_norm_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<FeatureDraw> feature_draw_;  // null: features named by the dropout site
};

/// Which tokens a token may attend in TokenAttention.
enum class AttentionScope {
  all,       // every token
  spatial,   // those of the same time patch
  temporal,  // those of the same series
};

struct TokenAttentionOptions {
  AttentionScope scope = AttentionScope::all;
  bool query_key_norm = true;
  double dropout = 0;                      // of the weights
  std::vector<int64_t> rotary_modes = {};  // token modes with rotary codes
  double rotary_base = 10000;
  int64_t features = -1;     // −1 is softmax, 0 the usual number of random features, else their number
  bool regularised = false;  // as for ops::orthogonal_projection
  bool causal = false;       // of tokens in row-major order; with reach `all`, softmax and no rotary codes
  FeatureDrawOptions draw = {};  // of the random features
};

/// Ordinary softmax attention between tokens; the last token mode is time. With reach `all` the softmax may
/// be replaced by positive random features (Performer), whose cost grows with the tokens and not with their
/// square.
class TokenAttention : public Attention {
 public:
  TokenAttention(Initializer& init, int64_t width, int64_t heads, TokenAttentionOptions options);

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  /// With reach `all` and without rotary codes: places of x and of the memory cannot be compared.
  at::Tensor attend(const at::Tensor& x, const Memory& memory) override;
  at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  at::Tensor attend_matrix(const at::Tensor& x, const Memory& memory) override;
  at::Tensor step(const at::Tensor& x, TokenCache& cache) override;
  TokenCache remembered(const at::Tensor& tokens) override;
  at::Tensor attend_step(const at::Tensor& x, const TokenCache& memory, int64_t place) override;

 private:
  // Normed and rotated, as their argument.
  at::Tensor queries(const at::Tensor& x) const;
  at::Tensor keys(const at::Tensor& x) const;
  /// Features of all tokens as one mode.
  ops::RandomFeatures features_of(const at::Tensor& q, const at::Tensor& k,
                                  const std::optional<at::Tensor>& mask) const;
  at::Tensor attend_all(const at::Tensor& q, const at::Tensor& k, const Memory& memory, bool causal) const;
  void check_elsewhere() const;

  int64_t heads_;
  TokenAttentionOptions options_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  std::shared_ptr<LayerNorm> query_norm_, key_norm_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<FeatureDraw> feature_draw_;  // null: features named by the dropout site
};

}  // namespace modewise::nn
