// A composition of differentiable operators: the pooled side is small ([B, N_i, D]), and the token side
// consists of the mode products only.

#include "modewise/ops/attention/kronecker_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/kronecker_attention_checks.h"
#include "modewise/ops/attention/mode_scores.h"
#include "modewise/ops/attention/random_features.h"
#include "modewise/ops/attention/rotary.h"
#include "modewise/ops/dense/linear.h"
#include "modewise/ops/dense/matmul.h"
#include "modewise/ops/dense/mode_product.h"
#include "modewise/ops/normalization/layer_norm.h"
#include "modewise/ops/training/dropout_add.h"

namespace modewise::ops {

namespace {

using Mask = std::optional<at::Tensor>;
using ModeMasks = std::vector<std::optional<at::Tensor>>;

// S_i, or random features whose product approximates it.
struct Factor {
  int64_t mode;
  at::Tensor scores;        // [B, H, N, N]; undefined for kernel linear
  RandomFeatures features;  // [B, H, N, M]

  at::Tensor matrix() const {
    return scores.defined() ? scores : ops::matmul(features.queries, features.keys.transpose(-1, -2));
  }
  at::Tensor apply(const at::Tensor& x) const {
    if (scores.defined()) return mode_product(x, scores, mode);
    return mode_product(mode_product(x, features.keys.transpose(-1, -2), mode), features.queries, mode);
  }
  /// The same in the accumulate type, for the renormalisation weights.
  Factor widened() const {
    if (!scores.defined()) return *this;
    return {mode, scores.to(accumulate_type(scores.scalar_type())), {}};
  }
  Factor dropped(const KroneckerAttentionOptions& options) const {
    if (!scores.defined() || options.dropout == 0) return *this;
    DropoutKey key = options.key;
    key.seed += static_cast<uint64_t>(mode) * 0x9E3779B97F4A7C15;  // each mode has its own random stream
    return {mode, dropout_add({}, scores, options.dropout, key), {}};
  }
};

// Pooling counts and mask of one mode.
struct Cells {
  double number;        // cells pooled into each position
  at::Tensor weighted;  // with a mask: multiplicity of the bias, [B, N, 1]
  Mask valid;           // with a mask: [B, N], positions with a valid cell
};

Cells cells_of(const at::Tensor& x, int64_t mode, Pooling pooling, const Mask& token_mask) {
  Cells cells{1, {}, {}};
  std::vector<int64_t> others;
  for (int64_t i = 0; i < x.dim() - 2; ++i) {
    if (i == mode) continue;
    others.push_back(i + 1);
    cells.number *= static_cast<double>(known_size(x, i + 1));
  }
  if (pooling == Pooling::mean) cells.number = 1;
  if (!token_mask) return cells;
  auto count = token_mask->to(accumulate_type(x.scalar_type()));
  if (!others.empty()) count = count.sum(others);
  cells.valid = count.gt(0);
  cells.weighted = (pooling == Pooling::sum ? count : cells.valid->to(count.scalar_type())).unsqueeze(-1);
  return cells;
}

// pool(W x + b) = W pool(x) + n·b, n the number of pooled cells (1 for a mean).
at::Tensor project(const at::Tensor& pooled, const at::Tensor& weight, const at::Tensor& bias,
                   const Cells& cells) {
  if (!bias.defined()) return ops::linear(pooled, weight);
  if (!cells.valid) return ops::linear(pooled, weight, cells.number == 1 ? bias : bias * cells.number);
  return ops::linear(pooled, weight) + (cells.weighted * bias).to(pooled.scalar_type());
}

at::Tensor norm_heads(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, int64_t heads) {
  if (!weight.defined() && !bias.defined()) return x;
  return layer_norm(x.unflatten(-1, {heads, known_size(x, -1) / heads}), weight, bias).flatten(-2);
}

class Factors {
 public:
  Factors(const at::Tensor& x, const KroneckerAttentionWeights& weights,
          const KroneckerAttentionOptions& options, const Mask& token_mask, const ModeMasks& mode_masks)
      : x_(x), weights_(weights), options_(options), token_mask_(token_mask), mode_masks_(mode_masks) {}

  std::vector<Factor> all() const {
    const auto pooled = mode_pool(x_, options_.pooling, token_mask_);
    std::vector<int64_t> modes = options_.attend_modes;
    for (int64_t i = 0; options_.attend_modes.empty() && i < x_.dim() - 2; ++i) modes.push_back(i);
    std::vector<Factor> factors;
    for (const int64_t mode : modes) factors.push_back(one(mode, pooled[static_cast<size_t>(mode)]));
    return factors;
  }

 private:
  Factor one(int64_t mode, const at::Tensor& pooled) const {
    const int64_t d = known_size(x_, -1), first = options_.share_modes ? 0 : mode * d;
    const auto cells = cells_of(x_, mode, options_.pooling, token_mask_);
    const auto rows = [&](const at::Tensor& t) { return t.defined() ? t.narrow(0, first, d) : t; };
    const bool rotated = std::count(options_.rope_modes.begin(), options_.rope_modes.end(), mode) != 0;
    const auto finish = [&](const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& norm_weight,
                            const at::Tensor& norm_bias) {
      const auto t = norm_heads(project(pooled, rows(weight), rows(bias), cells), norm_weight, norm_bias,
                                options_.heads);
      if (!rotated) return t;
      const int64_t width = d / options_.heads;
      const auto angles = rotary_angles({known_size(t, 1)}, {0}, width, options_.rope_base, t.device());
      return rotary(t.unflatten(-1, {options_.heads, width}), angles).flatten(-2);
    };
    const auto& w = weights_;
    const auto q = finish(w.query_weight, w.query_bias, w.query_norm_weight, w.query_norm_bias);
    const auto k = finish(w.key_weight, w.key_bias, w.key_norm_weight, w.key_norm_bias);
    if (options_.kernel == "linear") {
      const int64_t width = d / options_.heads, features = linear_feature_count(width, options_.features);
      return {mode,
              {},
              random_features(q, k, options_.heads,
                              orthogonal_projection(q.detach(), width, features,
                                                    static_cast<int64_t>(options_.feature_seed), mode,
                                                    options_.feature_map == "regularised"),
                              cells.valid)};
    }
    const Mask mode_mask = mode_masks_.empty() ? Mask() : mode_masks_[static_cast<size_t>(mode)];
    return {mode, mode_scores(q, k, options_.heads, cells.valid, mode_mask), {}};
  }

  const at::Tensor& x_;
  const KroneckerAttentionWeights& weights_;
  const KroneckerAttentionOptions& options_;
  const Mask& token_mask_;
  const ModeMasks& mode_masks_;
};

// 1 / weight where it is positive, else 0.
at::Tensor inverse_or_zero(const at::Tensor& weight) {
  const auto some = weight.gt(0);
  const auto one = at::zeros({}, weight.options()) + 1;
  return at::where(some, at::where(some, weight, one).reciprocal(), one - 1);
}

// x [B, N_1 … N_k, H·d] times scale [B, N_1 … N_k, H].
at::Tensor scaled_heads(const at::Tensor& x, const at::Tensor& scale) {
  const int64_t heads = known_size(scale, -1);
  return (x.unflatten(-1, {heads, known_size(x, -1) / heads}) * scale.unsqueeze(-1).to(x.scalar_type()))
      .flatten(-2);
}

// The mask per head, as a value tensor [B, N_1 … N_k, H]: 1 at valid cells.
at::Tensor valid_cells(const at::Tensor& token_mask, const at::Tensor& value, int64_t heads) {
  auto sizes = value.sym_sizes().vec();
  sizes.back() = heads;
  return token_mask.to(accumulate_type(value.scalar_type())).unsqueeze(-1).expand_symint(sizes);
}

at::Tensor combine_product(const at::Tensor& value, const std::vector<Factor>& factors,
                           const KroneckerAttentionOptions& options, const Mask& token_mask) {
  at::Tensor out = value;
  for (const Factor& factor : factors) out = factor.dropped(options).apply(out);
  if (!token_mask) return out;
  auto weight = valid_cells(*token_mask, value, options.heads);
  for (const Factor& factor : factors) weight = factor.widened().apply(weight);
  return scaled_heads(out, inverse_or_zero(weight));
}

at::Tensor combine_sum(const at::Tensor& value, const std::vector<Factor>& factors,
                       const KroneckerAttentionOptions& options, const Mask& token_mask) {
  std::vector<at::Tensor> inverses;
  at::Tensor terms;  // with a mask: number of modes with a valid key for the cell
  if (token_mask) {
    const auto cells = valid_cells(*token_mask, value, options.heads);
    for (const Factor& factor : factors) {
      inverses.push_back(inverse_or_zero(factor.widened().apply(cells)));
      const auto some = inverses.back().detach().gt(0).to(cells.scalar_type());
      terms = terms.defined() ? terms + some : some;
    }
    terms = terms.clamp_min(1).reciprocal() * static_cast<double>(factors.size());
  }
  at::Tensor sum;
  for (size_t i = 0; i < factors.size(); ++i) {
    auto term = factors[i].dropped(options).apply(value);
    if (token_mask) term = scaled_heads(term, inverses[i] * terms);
    sum = sum.defined() ? sum + term : term;
  }
  const bool averaged = options.combine == Combine::mean && factors.size() > 1;
  return averaged ? sum / static_cast<double>(factors.size()) : sum;
}

at::Tensor combine(const at::Tensor& value, const std::vector<Factor>& factors,
                   const KroneckerAttentionOptions& options, const Mask& token_mask) {
  const auto shown = token_mask ? value.masked_fill(token_mask->logical_not().unsqueeze(-1), 0) : value;
  return options.combine == Combine::product ? combine_product(shown, factors, options, token_mask)
                                             : combine_sum(shown, factors, options, token_mask);
}

}  // namespace

int64_t linear_feature_count(int64_t head_width, int64_t asked) {
  if (asked > 0) return asked;
  const auto logarithm = static_cast<int64_t>(std::ceil(std::log(static_cast<double>(head_width))));
  return (head_width * std::max<int64_t>(logarithm, 1) + 7) / 8 * 8;
}

at::Tensor kronecker_attention(const at::Tensor& x, const at::Tensor& value,
                               const KroneckerAttentionWeights& weights,
                               const KroneckerAttentionOptions& options,
                               const std::optional<at::Tensor>& token_mask,
                               const std::vector<std::optional<at::Tensor>>& mode_masks) {
  check_kronecker_attention_args("kronecker_attention", x, weights, options, token_mask, mode_masks);
  check_same("kronecker_attention", "value", value, "x", x);
  TORCH_CHECK_VALUE(value.sym_sizes() == x.sym_sizes(),
                    "kronecker_attention: value must have the shape of x ", x.sym_sizes(), ", got ",
                    value.sym_sizes());
  return combine(value, Factors(x, weights, options, token_mask, mode_masks).all(), options, token_mask);
}

std::vector<at::Tensor> mode_attention(const at::Tensor& x, const KroneckerAttentionWeights& weights,
                                       const KroneckerAttentionOptions& options,
                                       const std::optional<at::Tensor>& token_mask,
                                       const std::vector<std::optional<at::Tensor>>& mode_masks) {
  check_kronecker_attention_args("mode_attention", x, weights, options, token_mask, mode_masks);
  std::vector<at::Tensor> matrices;
  for (const auto& factor : Factors(x, weights, options, token_mask, mode_masks).all())
    matrices.push_back(factor.matrix().to(x.scalar_type()));
  return matrices;
}

}  // namespace modewise::ops
