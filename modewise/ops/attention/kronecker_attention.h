#pragma once
// Kronecker attention (Higher-Order Transformers, equations 3 to 9; released code): factorised attention with
// one small matrix S_i per mode, applied as mode products, never as the full matrix.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "modewise/ops/attention/mode_pool.h"
#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

/// Combination of the S_i: V ×_1 S_1 … ×_k S_k; Σ V ×_i S_i (released code); (1/k) Σ V ×_i S_i (paper).
enum class Combine { product, sum, mean };

struct KroneckerAttentionOptions {
  int64_t heads = 8;
  Combine combine = Combine::product;
  Pooling pooling = Pooling::sum;
  bool share_modes = false;           // one set of query and key weights for all modes
  std::vector<int64_t> attend_modes;  // attended modes; empty: all
  std::vector<int64_t> rope_modes;    // modes with a rotary embedding of pooled q and k (rotate_half)
  double rope_base = 10000;
  std::string kernel = "softmax";       // or "linear": positive random features (Performer), S_i never formed
  int64_t features = 0;                 // of kernel linear; 0: d·ceil(ln d), rounded up to a multiple of 8
  std::string feature_map = "softmax";  // or "regularised": SM-REG, the map of arXiv 2412.02919v1
  uint64_t feature_seed = 0;
  double dropout = 0;  // of the entries of S_i; pass 0 in evaluation. Kernel linear has no S_i to drop.
  DropoutKey key;
};

/// Weights of the q and k projections and norms; d = D / heads. Biases and norms may be undefined.
struct KroneckerAttentionWeights {
  at::Tensor query_weight,
      query_bias;  // [k·D, D] mode-major (mode i owns rows i·D … (i+1)·D − 1), or [D, D] shared
  at::Tensor key_weight, key_bias;
  at::Tensor query_norm_weight, query_norm_bias;  // [d]: LayerNorm of the pooled q and k of each head
  at::Tensor key_norm_weight, key_norm_bias;
};

/// x [B, N_1 … N_k, D] is pooled onto each mode, projected, normalised and rotated; S_i = softmax(q kᵀ / √d);
/// the S_i are applied to `value` [B, N_1 … N_k, D] (already projected). Pooling before projecting gives the
/// same function.
/// token_mask [B, N_1 … N_k] bool, true = valid: invalid cells are excluded from pooling, keys without a
/// valid cell are masked, and products are renormalised, out = (⊗S)(m ⊙ V) / (⊗S) m (0 where the denominator
/// is 0); sums likewise term by term, with the terms that have a valid cell replacing those that have none.
/// Rows still sum to 1 (k for `sum`) and no value of an invalid cell affects the result.
/// mode_masks: empty, or one per mode: [N_i, N_i] bool, true = may attend (kernel softmax only).
/// The caller casts weights to x's dtype; norms and softmax compute in float32 or wider.
at::Tensor kronecker_attention(const at::Tensor& x, const at::Tensor& value,
                               const KroneckerAttentionWeights& weights,
                               const KroneckerAttentionOptions& options,
                               const std::optional<at::Tensor>& token_mask = {},
                               const std::vector<std::optional<at::Tensor>>& mode_masks = {});

/// Matrices S_i [B, H, N_i, N_i] of the same arguments, before dropout, one per attended mode in the order of
/// `attend_modes`, in x's dtype; for kernel linear its approximation, formed explicitly.
std::vector<at::Tensor> mode_attention(const at::Tensor& x, const KroneckerAttentionWeights& weights,
                                       const KroneckerAttentionOptions& options,
                                       const std::optional<at::Tensor>& token_mask = {},
                                       const std::vector<std::optional<at::Tensor>>& mode_masks = {});

/// Number of features of kernel linear for head width d when `features` is `asked` (0: the default).
int64_t linear_feature_count(int64_t head_width, int64_t asked);

}  // namespace modewise::ops
