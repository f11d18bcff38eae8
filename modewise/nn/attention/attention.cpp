#include "modewise/nn/attention/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>

#include <utility>

#include "modewise/nn/attention/mode_mask.h"
#include "modewise/nn/layers/checks.h"
#include "modewise/ops/attention/axis_attention.h"
#include "modewise/ops/attention/full_attention.h"
#include "modewise/ops/attention/mode_scores.h"
#include "modewise/ops/attention/rotary.h"
#include "modewise/ops/dense/matmul.h"
#include "modewise/ops/dense/mode_product.h"

namespace modewise::nn {
namespace {

[[noreturn]] void refuse_memory() {
  TORCH_CHECK_VALUE(false, "this attention type mixes the tokens of one tensor: it has no cross-attention");
}

/// Null where the dropout site seeds the features.
std::shared_ptr<FeatureDraw> make_draw(const Initializer& init, const Dropout& dropout,
                                       const FeatureDrawOptions& options) {
  if (!options.by_seed) return nullptr;
  return std::make_shared<FeatureDraw>(init, dropout.key().site, options.redraw_every);
}

/// The seed of ops::orthogonal_projection.
int64_t feature_seed(const std::shared_ptr<FeatureDraw>& draw, const Dropout& dropout) {
  return draw ? draw->seed() : static_cast<int64_t>(dropout.key().site);
}

}  // namespace

at::Tensor norm_heads(const at::Tensor& x, int64_t heads, const LayerNorm& norm) {
  std::vector<int64_t> split = x.sizes().vec();
  split.back() = heads;
  split.push_back(width_of_head("norm_heads", x.size(-1), heads));
  return norm.forward(x.view(split)).view(x.sizes());
}

at::Tensor rotate_heads(const at::Tensor& x, int64_t heads, at::IntArrayRef modes, double base) {
  if (modes.empty()) return x;
  const int64_t width = width_of_head("rotate_heads", x.size(-1), heads);
  const auto sizes = x.sizes().slice(1, static_cast<size_t>(x.dim() - 2));
  return ops::rotary(x.flatten(1, -2).unflatten(-1, {heads, width}),
                     ops::rotary_angles(sizes, modes, width, base, x.device()))
      .view(x.sizes());
}

at::Tensor Attention::attend(const at::Tensor&, const Memory&) {
  refuse_memory();
}

std::vector<at::Tensor> Attention::factors(const at::Tensor&, const std::optional<at::Tensor>&) {
  return {};
}

at::Tensor Attention::full_matrix(const at::Tensor&, const std::optional<at::Tensor>&) {
  return {};
}

at::Tensor Attention::attend_matrix(const at::Tensor&, const Memory&) {
  return {};
}

at::Tensor Attention::step(const at::Tensor&, TokenCache&) {
  TORCH_CHECK_VALUE(false, "this attention type is not causal: it has no incremental decoding");
}

TokenCache Attention::remembered(const at::Tensor&) {
  refuse_memory();
}

at::Tensor Attention::attend_step(const at::Tensor&, const TokenCache&, int64_t) {
  refuse_memory();
}

KroneckerAttention::KroneckerAttention(Initializer& init, int64_t width, int64_t modes, bool query_key_norm,
                                       double dropout, ops::KroneckerAttentionOptions options,
                                       FeatureDrawOptions draw, std::vector<std::string> mode_masks)
    : options_(std::move(options)), mode_masks_(std::move(mode_masks)) {
  constexpr auto kModule = "KroneckerAttention";
  const int64_t head = width_of_head(kModule, width, options_.heads);
  ops::check_modes(kModule, "attend_modes", options_.attend_modes, modes);
  ops::check_modes(kModule, "rope_modes", options_.rope_modes, modes);
  TORCH_CHECK_VALUE(mode_masks_.empty() || std::ssize(mode_masks_) == modes, kModule,
                    ": mode_masks must be empty or one for each of the ", modes, " modes, got ",
                    mode_masks_.size());
  const int64_t projected = options_.share_modes ? width : modes * width;
  query_ = register_module("query_proj", std::make_shared<Linear>(init, width, projected));
  key_ = register_module("key_proj", std::make_shared<Linear>(init, width, projected));
  value_ = register_module("value_proj", std::make_shared<Linear>(init, width, width));
  out_ = register_module("out_proj", std::make_shared<Linear>(init, width, width));
  if (query_key_norm) {
    query_norm_ = register_module("q_norm", std::make_shared<LayerNorm>(head));
    key_norm_ = register_module("k_norm", std::make_shared<LayerNorm>(head));
  }
  dropout_ = register_module("dropout", std::make_shared<Dropout>(init, dropout));
  if (options_.kernel != "linear") return;
  feature_draw_ = make_draw(init, *dropout_, draw);
  if (feature_draw_) register_module("feature_draw", feature_draw_);
}

ops::KroneckerAttentionWeights KroneckerAttention::weights(const at::Tensor& like) const {
  ops::KroneckerAttentionWeights out;
  out.query_weight = cast_like(query_->weight(), like);
  out.query_bias = cast_like(query_->bias(), like);
  out.key_weight = cast_like(key_->weight(), like);
  out.key_bias = cast_like(key_->bias(), like);
  if (query_norm_) {
    out.query_norm_weight = query_norm_->weight();
    out.query_norm_bias = query_norm_->bias();
    out.key_norm_weight = key_norm_->weight();
    out.key_norm_bias = key_norm_->bias();
  }
  return out;
}

ops::KroneckerAttentionOptions KroneckerAttention::options_now() const {
  ops::KroneckerAttentionOptions options = options_;
  if (options.kernel == "linear")
    options.feature_seed = static_cast<uint64_t>(feature_seed(feature_draw_, *dropout_));
  return options;
}

std::vector<std::optional<at::Tensor>> KroneckerAttention::masks(const at::Tensor& x) const {
  std::vector<std::optional<at::Tensor>> out;
  for (size_t mode = 0; mode < mode_masks_.size(); ++mode)
    out.push_back(mode_mask(mode_masks_[mode], x.size(static_cast<int64_t>(mode) + 1), x.device()));
  return out;
}

at::Tensor KroneckerAttention::forward(const at::Tensor& given, const std::optional<at::Tensor>& mask) {
  const at::Tensor x = valid_tokens("KroneckerAttention", given, mask);
  ops::KroneckerAttentionOptions options = options_now();
  options.dropout = dropout_->active_probability();
  options.key = dropout_->key();
  return out_->forward(ops::kronecker_attention(x, value_->forward(x), weights(x), options, mask, masks(x)));
}

std::vector<at::Tensor> KroneckerAttention::factors(const at::Tensor& given,
                                                    const std::optional<at::Tensor>& mask) {
  const at::Tensor x = valid_tokens("KroneckerAttention", given, mask);
  return ops::mode_attention(x, weights(x), options_now(), mask, masks(x));
}

TokenAttention::TokenAttention(Initializer& init, int64_t width, int64_t heads, TokenAttentionOptions options)
    : heads_(heads), options_(std::move(options)) {
  TORCH_CHECK_VALUE(!options_.causal || (options_.scope == AttentionScope::all && options_.features < 0 &&
                                         options_.rotary_modes.empty()),
                    "causal attention needs scope `all`, softmax and no rotary embedding");
  const int64_t head = width_of_head("TokenAttention", width, heads);
  query_ = register_module("query_proj", std::make_shared<Linear>(init, width, width));
  key_ = register_module("key_proj", std::make_shared<Linear>(init, width, width));
  value_ = register_module("value_proj", std::make_shared<Linear>(init, width, width));
  out_ = register_module("out_proj", std::make_shared<Linear>(init, width, width));
  if (options_.query_key_norm) {
    query_norm_ = register_module("q_norm", std::make_shared<LayerNorm>(head));
    key_norm_ = register_module("k_norm", std::make_shared<LayerNorm>(head));
  }
  dropout_ = register_module("dropout", std::make_shared<Dropout>(init, options_.dropout));
  if (options_.features < 0) return;
  feature_draw_ = make_draw(init, *dropout_, options_.draw);
  if (feature_draw_) register_module("feature_draw", feature_draw_);
}

at::Tensor TokenAttention::queries(const at::Tensor& x) const {
  at::Tensor q = query_->forward(x);
  if (query_norm_) q = norm_heads(q, heads_, *query_norm_);
  return rotate_heads(q, heads_, options_.rotary_modes, options_.rotary_base);
}

at::Tensor TokenAttention::keys(const at::Tensor& x) const {
  at::Tensor k = key_->forward(x);
  if (key_norm_) k = norm_heads(k, heads_, *key_norm_);
  return rotate_heads(k, heads_, options_.rotary_modes, options_.rotary_base);
}

ops::RandomFeatures TokenAttention::features_of(const at::Tensor& q, const at::Tensor& k,
                                                const std::optional<at::Tensor>& mask) const {
  const int64_t width = q.size(-1) / heads_;
  const at::Tensor projection =
      ops::orthogonal_projection(q.detach(), width, ops::linear_feature_count(width, options_.features),
                                 feature_seed(feature_draw_, *dropout_), 0, options_.regularised);
  std::optional<at::Tensor> kept;
  if (mask) kept = mask->flatten(1);
  return ops::random_features(q.flatten(1, -2), k.flatten(1, -2), heads_, projection, kept);
}

at::Tensor TokenAttention::full_matrix(const at::Tensor& given, const std::optional<at::Tensor>& mask) {
  if (options_.scope != AttentionScope::all) return {};
  const at::Tensor x = valid_tokens("TokenAttention", given, mask);
  const at::Tensor q = queries(x), k = keys(x);
  if (options_.features >= 0) {
    const ops::RandomFeatures features = features_of(q, k, mask);
    return ops::matmul(features.queries, features.keys.transpose(-1, -2));
  }
  std::optional<at::Tensor> kept, seen;
  if (mask) kept = mask->flatten(1);
  const at::Tensor rows = q.flatten(1, -2);
  if (options_.causal) seen = at::ones({rows.size(1), rows.size(1)}, x.options().dtype(at::kBool)).tril();
  return ops::mode_scores(rows, k.flatten(1, -2), heads_, kept, seen);
}

at::Tensor TokenAttention::attend_all(const at::Tensor& q, const at::Tensor& k, const Memory& memory,
                                      bool causal) const {
  at::Tensor v = value_->forward(memory.tokens);
  if (options_.features < 0)
    return out_->forward(ops::full_attention(q, k, v, heads_, memory.mask, dropout_->active_probability(),
                                             dropout_->key(), causal));
  if (memory.mask) v = v.masked_fill(memory.mask->logical_not().unsqueeze(-1), 0);
  const ops::RandomFeatures features = features_of(q, k, memory.mask);
  const at::Tensor mixed = ops::mode_product(v.flatten(1, -2), features.keys.transpose(-1, -2), 0);
  return out_->forward(ops::mode_product(mixed, features.queries, 0).view(q.sizes()));
}

void TokenAttention::check_elsewhere() const {
  TORCH_CHECK_VALUE(options_.scope == AttentionScope::all && options_.rotary_modes.empty(),
                    "cross-attention needs scope `all` and no rotary embedding");
}

at::Tensor TokenAttention::attend(const at::Tensor& x, const Memory& memory) {
  check_elsewhere();
  const at::Tensor tokens = valid_tokens("TokenAttention", memory.tokens, memory.mask);
  return attend_all(queries(x), keys(tokens), {tokens, memory.mask}, false);
}

at::Tensor TokenAttention::attend_matrix(const at::Tensor& x, const Memory& memory) {
  check_elsewhere();
  const at::Tensor q = queries(x), k = keys(valid_tokens("TokenAttention", memory.tokens, memory.mask));
  std::optional<at::Tensor> kept;
  if (memory.mask) kept = memory.mask->flatten(1);
  if (options_.features < 0) return ops::mode_scores(q.flatten(1, -2), k.flatten(1, -2), heads_, kept);
  const ops::RandomFeatures features = features_of(q, k, memory.mask);
  return ops::matmul(features.queries, features.keys.transpose(-1, -2));
}

at::Tensor TokenAttention::step(const at::Tensor& x, TokenCache& cache) {
  if (!options_.causal) return Attention::step(x, cache);
  const auto join = [](const at::Tensor& before, const at::Tensor& now) {
    return before.defined() ? at::cat({before, now}, 1) : now;
  };
  TokenCache grown = {join(cache.keys, keys(x)), join(cache.values, value_->forward(x))};
  const at::Tensor out = attend_step(x, grown, grown.values.size(1) - 1);
  cache = std::move(grown);
  return out;
}

TokenCache TokenAttention::remembered(const at::Tensor& tokens) {
  check_elsewhere();
  return {keys(tokens).flatten(1, -2), value_->forward(tokens).flatten(1, -2)};
}

at::Tensor TokenAttention::attend_step(const at::Tensor& x, const TokenCache& memory, int64_t) {
  TORCH_CHECK_VALUE(options_.features < 0,
                    "incremental decoding has no random features: they are drawn for a whole sequence");
  return out_->forward(ops::full_attention(queries(x), memory.keys, memory.values, heads_, {},
                                           dropout_->active_probability(), dropout_->key()));
}

at::Tensor TokenAttention::forward(const at::Tensor& given, const std::optional<at::Tensor>& mask) {
  const at::Tensor x = valid_tokens("TokenAttention", given, mask);
  const at::Tensor q = queries(x), k = keys(x);
  if (options_.scope == AttentionScope::all) return attend_all(q, k, {x, mask}, options_.causal);
  // Flatten the series modes to one: [B, N, P, D].
  const at::IntArrayRef sizes = x.sizes();
  const int64_t series = c10::multiply_integers(sizes.slice(1, sizes.size() - 3));
  const std::vector<int64_t> folded{x.size(0), series, x.size(-2), x.size(-1)};
  std::optional<at::Tensor> folded_mask;
  if (mask) folded_mask = mask->reshape({x.size(0), series, x.size(-2)});
  const at::Tensor out =
      ops::axis_attention(q.reshape(folded), k.reshape(folded), value_->forward(x).reshape(folded), heads_,
                          options_.scope == AttentionScope::spatial ? 0 : 1, folded_mask, {},
                          dropout_->active_probability(), dropout_->key());
  return out_->forward(out.view(sizes));
}

}  // namespace modewise::nn
