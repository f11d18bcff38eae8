// A composition of differentiable operators: the pooled side is small ([B, N_i, D]), and the token side
// consists of the mode products only.

#include "modewise/ops/attention/kronecker_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/kronecker_attention_checks.h"
#include "modewise/ops/attention/mode_scores.h"
#include "modewise/ops/attention/random_features.h"
#include "modewise/ops/attention/rotary.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/dense/elementary.h"
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
  at::Tensor scores;             // [B, H, N, N]; undefined for kernel linear
  RandomFeatures features = {};  // [B, H, N, M]
  at::Tensor queries = {};       // of the scores, [B, N, H·d]
  at::Tensor keys = {};
  Mask allowed = {};  // with a token mask: keys of each query, [B, 1, 1, N] or [B, 1, N, N]

  at::Tensor matrix() const {
    return scores.defined() ? scores : ops::matmul(features.queries, features.keys.transpose(-1, -2));
  }
  at::Tensor apply(const at::Tensor& x) const {
    if (scores.defined()) return mode_product(x, scores, mode);
    return mode_product(mode_product(x, features.keys.transpose(-1, -2), mode), features.queries, mode);
  }
  /// Logarithm of S_i up to a constant of each row, −∞ for keys that are not allowed: [B, H, N, N].
  at::Tensor logits() const {
    const auto by_head = [&](const at::Tensor& t) {
      return t.to(accumulate_type(t.scalar_type())).unflatten(-1, {scores.size(1), -1}).transpose(1, 2);
    };
    const auto products = [&] {
      const at::Tensor q = by_head(queries), k = by_head(keys);
      return ops::matmul(q, k.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(-1)));
    };
    const at::Tensor all = scores.defined() ? products() : elementary(matrix(), "log");
    return allowed ? all.masked_fill(allowed->logical_not(), -std::numeric_limits<double>::infinity()) : all;
  }
  /// The same in the accumulate type, for the renormalisation weights.
  Factor widened() const {
    if (!scores.defined()) return *this;
    return {mode, scores.to(accumulate_type(scores.scalar_type()))};
  }
  /// Those of some samples.
  Factor select(const at::Tensor& samples) const {
    const auto of = [&](const at::Tensor& t) { return t.defined() ? t.index_select(0, samples) : t; };
    return {mode,        of(scores), {of(features.queries), of(features.keys)},
            of(queries), of(keys),   allowed ? Mask(of(*allowed)) : Mask()};
  }
  Factor dropped(const KroneckerAttentionOptions& options) const {
    if (!scores.defined() || options.dropout == 0) return *this;
    DropoutKey key = options.key;
    key.seed += static_cast<uint64_t>(mode) * 0x9E3779B97F4A7C15;  // each mode has its own random stream
    return {mode, dropout_add({}, scores, options.dropout, key)};
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

// Keys of each query, [B, 1, 1, N] or with a mode mask [B, 1, N, N]; nothing without a token mask.
Mask allowed_keys(const Mask& valid, const Mask& mode_mask) {
  if (!valid) return {};
  const at::Tensor keys = valid->unsqueeze(1).unsqueeze(1);
  return mode_mask ? keys.logical_and(*mode_mask) : keys;
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
                              cells.valid),
              {},
              {},
              allowed_keys(cells.valid, {})};
    }
    const Mask mode_mask = mode_masks_.empty() ? Mask() : mode_masks_[static_cast<size_t>(mode)];
    return {mode, mode_scores(q, k, options_.heads, cells.valid, mode_mask),
            {},   q,
            k,    allowed_keys(cells.valid, mode_mask)};
  }

  const at::Tensor& x_;
  const KroneckerAttentionWeights& weights_;
  const KroneckerAttentionOptions& options_;
  const Mask& token_mask_;
  const ModeMasks& mode_masks_;
};

// Without a token mask the result is (⊗ S_i) value, or the sum or mean of the S_i value. With one, the rows
// of these matrices are renormalised over the valid cells: by the quotient of two mode products, or, where
// the valid cells of a row have so little weight that the quotient loses its digits, by logits (below).

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

// The weights of valid cells in the rows, [B, N_1 … N_k, H]: one tensor for product, else one per factor.
std::vector<at::Tensor> valid_weights(const at::Tensor& cells, const std::vector<Factor>& factors,
                                      Combine combine) {
  std::vector<at::Tensor> weights;
  for (const Factor& factor : factors) {
    if (combine == Combine::product && !weights.empty())
      weights = {factor.widened().apply(weights.front())};
    else
      weights.push_back(factor.widened().apply(cells));
  }
  return weights;
}

// Factors for the number of modes in which a row has a valid key: their terms are averaged over these modes.
at::Tensor mode_shares(const std::vector<at::Tensor>& present) {
  at::Tensor count;
  for (const at::Tensor& some : present) count = count.defined() ? count + some : some;
  return count.clamp_min(1).reciprocal() * static_cast<double>(present.size());
}

// Sum or mean of one term per factor.
at::Tensor combined_terms(const std::vector<at::Tensor>& terms, Combine combine) {
  at::Tensor sum;
  for (const at::Tensor& term : terms) sum = sum.defined() ? sum + term : term;
  const bool averaged = combine == Combine::mean && terms.size() > 1;
  return averaged ? sum / static_cast<double>(terms.size()) : sum;
}

// By quotients. `weights`: of valid_weights(); empty without a token mask.
at::Tensor by_quotients(const at::Tensor& value, const std::vector<Factor>& dropped, Combine combine,
                        const std::vector<at::Tensor>& weights) {
  if (combine == Combine::product) {
    at::Tensor out = value;
    for (const Factor& factor : dropped) out = factor.apply(out);
    return weights.empty() ? out : scaled_heads(out, inverse_or_zero(weights.front()));
  }
  std::vector<at::Tensor> inverses, present, terms;
  for (const at::Tensor& weight : weights) {
    inverses.push_back(inverse_or_zero(weight));
    present.push_back(inverses.back().detach().gt(0).to(weight.scalar_type()));
  }
  const at::Tensor shares = weights.empty() ? at::Tensor() : mode_shares(present);
  for (size_t i = 0; i < dropped.size(); ++i) {
    const at::Tensor term = dropped[i].apply(value);
    terms.push_back(weights.empty() ? term : scaled_heads(term, inverses[i] * shares));
  }
  return combined_terms(terms, combine);
}

// By logits: every weight relative to the largest of its row.
at::Tensor by_logits(const at::Tensor& value, const std::vector<Factor>& factors,
                     const std::vector<at::Tensor>& kept, Combine combine, const at::Tensor& cells) {
  const WeightedCells start = {value.to(cells.scalar_type()), elementary(cells, "log")};
  WeightedCells last = start;
  std::vector<at::Tensor> terms, present;
  for (size_t i = 0; i < factors.size(); ++i) {
    last = average_along_mode(combine == Combine::product ? last : start, factors[i].mode,
                              factors[i].logits(), kept[i]);
    terms.push_back(last.value);
    present.push_back(last.log_weight.detach().isfinite().to(cells.scalar_type()));
  }
  if (combine == Combine::product) return last.value.to(value.scalar_type());
  const at::Tensor shares = mode_shares(present);
  for (at::Tensor& term : terms) term = scaled_heads(term, shares);
  return combined_terms(terms, combine).to(value.scalar_type());
}

// Rows [B, N_1 … N_k, 1] with an allowed valid key: of all factors in turn, or of one.
at::Tensor reachable(const at::Tensor& cells, std::span<const Factor> factors) {
  at::Tensor reached = cells.narrow(-1, 0, 1);
  for (const Factor& factor : factors) {
    const int64_t rows = known_size(reached, factor.mode + 1);
    const at::Tensor allowed = factor.allowed->to(reached.scalar_type()).expand({-1, -1, rows, -1});
    reached = mode_product(reached, allowed.contiguous(), factor.mode).gt(0).to(reached.scalar_type());
  }
  return reached.gt(0);
}

// Samples [B] with a row whose valid cells have nearly no weight; undefined: none.
at::Tensor samples_for_logits(const std::vector<at::Tensor>& weights, const std::vector<Factor>& factors,
                              const at::Tensor& cells) {
  at::Tensor found;
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::span<const Factor> own = weights.size() == factors.size() ? std::span(factors).subspan(i, 1)
                                                                         : std::span<const Factor>(factors);
    const at::Tensor samples = samples_of_tiny_weight(weights[i], [&] { return reachable(cells, own); });
    if (samples.defined()) found = found.defined() ? found.logical_or(samples) : samples;
  }
  return found;
}

std::vector<Factor> selected(const std::vector<Factor>& factors, const at::Tensor& samples) {
  std::vector<Factor> out;
  for (const Factor& factor : factors) out.push_back(factor.select(samples));
  return out;
}

std::vector<at::Tensor> selected(const std::vector<at::Tensor>& tensors, const at::Tensor& samples) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& tensor : tensors)
    out.push_back(tensor.defined() ? tensor.index_select(0, samples) : tensor);
  return out;
}

at::Tensor combine(const at::Tensor& value, const std::vector<Factor>& factors,
                   const KroneckerAttentionOptions& options, const Mask& token_mask) {
  std::vector<Factor> dropped;
  for (const Factor& factor : factors) dropped.push_back(factor.dropped(options));
  if (!token_mask) return by_quotients(value, dropped, options.combine, {});
  const at::Tensor shown = value.masked_fill(token_mask->logical_not().unsqueeze(-1), 0),
                   cells = valid_cells(*token_mask, value, options.heads);
  const std::vector<at::Tensor> weights = valid_weights(cells, factors, options.combine);
  const at::Tensor for_logits = samples_for_logits(weights, factors, cells);
  if (!for_logits.defined()) return by_quotients(shown, dropped, options.combine, weights);
  std::vector<at::Tensor> kept;
  for (const Factor& factor : factors)
    kept.push_back(options.dropout == 0 || !factor.scores.defined()
                       ? at::Tensor()
                       : Factor{factor.mode, at::ones_like(factor.scores)}.dropped(options).scores);
  return by_sample(
      for_logits,
      [&](const at::Tensor& samples) {
        return by_logits(shown.index_select(0, samples), selected(factors, samples), selected(kept, samples),
                         options.combine, cells.index_select(0, samples));
      },
      [&](const at::Tensor& samples) {
        return by_quotients(shown.index_select(0, samples), selected(dropped, samples), options.combine,
                            selected(weights, samples));
      });
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
