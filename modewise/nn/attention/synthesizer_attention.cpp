#include "modewise/nn/attention/synthesizer_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "modewise/nn/embedding/token_projection.h"
#include "modewise/nn/layers/checks.h"
#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/attention/full_attention.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/attention/synthesized_attention.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/dense/matmul.h"
#include "modewise/ops/dense/mode_product.h"

namespace modewise::nn {
namespace {

std::shared_ptr<Linear> square(Initializer& init, int64_t width) {
  return std::make_shared<Linear>(init, width, width);
}

/// [B, N_1 … N_k, D] -> [B, N, H, d]
at::Tensor by_head(const at::Tensor& x, int64_t heads) {
  return x.flatten(1, -2).unflatten(-1, {heads, -1});
}

/// Attention matrix from the result for unit vectors as values: [B, n, H, m] -> [B, H, n, m].
at::Tensor units(const at::Tensor& x, int64_t heads) {
  const int64_t n = x.flatten(1, -2).size(1);
  return at::eye(n, x.options())
      .unsqueeze(1)
      .expand({n, heads, n})
      .unsqueeze(0)
      .expand({x.size(0), n, heads, n});
}

std::optional<at::Tensor> flat(const std::optional<at::Tensor>& mask) {
  return mask ? std::optional(mask->flatten(1)) : std::nullopt;
}

/// x with 0 where the mask is false: a row of logits may depend on every token.
at::Tensor zeroed(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  return zeroed_tokens("synthesizer", x, mask);
}

/// Logits of tokens x [B, c, D], all at position `place`, from a source whose rows depend on their own token
/// or on none.
ops::SynthesizedLogits logits_at(const LogitSource& source, const at::Tensor& x, int64_t columns,
                                 int64_t place) {
  const int64_t batch = x.size(0), rows = x.size(1);
  ops::SynthesizedLogits out = source.logits(x.reshape({batch * rows, 1, -1}), columns);
  if (out.left.defined()) out.left = out.left.reshape({batch, rows, out.left.size(2), out.left.size(3)});
  if (!out.outer.defined()) return out;
  const int64_t group = out.inner.size(1);
  out.outer = out.outer.narrow(1, place / group, 1);
  out.inner = out.inner.narrow(1, place % group, 1).expand({-1, rows, -1});
  return out;
}

}  // namespace

SynthesizerAttention::SynthesizerAttention(Initializer& init, const SynthesizerShape& shape,
                                           std::vector<std::shared_ptr<LogitSource>> sources, bool causal)
    : heads_(shape.heads), rows_(shape.rows()), causal_(causal), sources_(std::move(sources)) {
  for (size_t i = 0; i < sources_.size(); ++i)
    register_module(sources_.size() == 1 ? "logits" : "logits" + std::to_string(i), sources_[i]);
  value_ = register_module("value_proj", square(init, shape.width));
  out_ = register_module("out_proj", square(init, shape.width));
}

at::Tensor SynthesizerAttention::mixed(const at::Tensor& x, const at::Tensor& values,
                                       const std::optional<at::Tensor>& mask, bool causal) const {
  const int64_t rows = x.flatten(1, -2).size(1);
  at::Tensor sum;
  for (const auto& source : sources_) {
    const at::Tensor one =
        ops::synthesized_attention(values, source->logits(x, values.size(1)), rows, flat(mask), causal);
    sum = sum.defined() ? sum + one : one;
  }
  return sum;
}

at::Tensor SynthesizerAttention::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  const at::Tensor tokens = zeroed(x, mask), values = by_head(value_->forward(tokens), heads_);
  return out_->forward(mixed(tokens, values, mask, causal_).flatten(-2).view(x.sizes()));
}

at::Tensor SynthesizerAttention::attend(const at::Tensor& x, const Memory& memory) {
  const at::Tensor values = by_head(value_->forward(zeroed(memory.tokens, memory.mask)), heads_);
  return out_->forward(mixed(x, values, memory.mask, false).flatten(-2).view(x.sizes()));
}

at::Tensor SynthesizerAttention::attend_matrix(const at::Tensor& x, const Memory& memory) {
  return mixed(x, units(memory.tokens, heads_), memory.mask, false).transpose(1, 2);
}

TokenCache SynthesizerAttention::remembered(const at::Tensor& tokens) {
  return {{}, value_->forward(tokens).flatten(1, -2)};
}

at::Tensor SynthesizerAttention::attend_step(const at::Tensor& x, const TokenCache& memory, int64_t place) {
  TORCH_CHECK_VALUE(place < rows_, "a synthesizer built for ", rows_, " tokens has no position ", place);
  const at::Tensor values = by_head(memory.values, heads_);
  at::Tensor sum;
  for (const auto& source : sources_) {
    const at::Tensor one =
        ops::synthesized_attention(values, logits_at(*source, x, values.size(1), place), x.size(1));
    sum = sum.defined() ? sum + one : one;
  }
  return out_->forward(sum.flatten(-2));
}

at::Tensor SynthesizerAttention::step(const at::Tensor& x, TokenCache& cache) {
  if (!causal_) return Attention::step(x, cache);
  const at::Tensor value = value_->forward(x);
  TokenCache grown = {{}, cache.values.defined() ? at::cat({cache.values, value}, 1) : value};
  const at::Tensor out = attend_step(x, grown, grown.values.size(1) - 1);
  cache = std::move(grown);
  return out;
}

at::Tensor SynthesizerAttention::full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  return mixed(zeroed(x, mask), units(x, heads_), mask, causal_).transpose(1, 2);
}

FactorProductAttention::FactorProductAttention(Initializer& init, const SynthesizerShape& shape,
                                               const FactorShapes& shapes)
    : shape_(shape), sizes_(shapes.rows) {
  TORCH_CHECK_VALUE(shapes.rows == shapes.columns, "product-random needs square factors, got rows ",
                    at::IntArrayRef(shapes.rows), " and columns ", at::IntArrayRef(shapes.columns));
  for (size_t i = 0; i < sizes_.size(); ++i)
    factors_.push_back(register_parameter("factor" + std::to_string(i),
                                          init.normal({shape.heads, sizes_[i], sizes_[i]}, 1)));
  value_ = register_module("value_proj", square(init, shape.width));
  out_ = register_module("out_proj", square(init, shape.width));
}

at::Tensor FactorProductAttention::mixed(const at::Tensor& values,
                                         const std::optional<at::Tensor>& mask) const {
  const auto folded = [&](const at::Tensor& x) {  // [B, N, …] -> [B, N_1', …, N_m', …]
    std::vector<int64_t> sizes = {x.size(0)};
    sizes.insert(sizes.end(), sizes_.begin(), sizes_.end());
    sizes.push_back(-1);
    return x.reshape(sizes);
  };
  if (!mask) {
    at::Tensor out = folded(values);
    for (size_t i = 0; i < factors_.size(); ++i) {
      const at::Tensor weights = cast_like(ops::softmax(factors_[i]), values).unsqueeze(0);
      out = ops::mode_product(out, weights.expand({values.size(0), -1, -1, -1}), static_cast<int64_t>(i));
    }
    return out.reshape(values.sizes());
  }
  // Invalid tokens get weight 0; the other weights are renormalized to sum to 1.
  const auto type = ops::accumulate_type(values.scalar_type());
  const at::Tensor valid = mask->flatten(1).unsqueeze(-1).expand({-1, -1, shape_.heads}).to(type);
  ops::WeightedCells cells = {folded(values.to(type)), folded(ops::elementary(valid, "log"))};
  for (size_t i = 0; i < factors_.size(); ++i)
    cells = ops::average_along_mode(cells, static_cast<int64_t>(i), factors_[i].unsqueeze(0), {});
  return cells.value.reshape(values.sizes()).to(values.scalar_type());
}

at::Tensor FactorProductAttention::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  TORCH_CHECK_VALUE(x.sizes().slice(1, static_cast<size_t>(x.dim() - 2)) == at::IntArrayRef(shape_.sizes),
                    "a synthesizer built for tokens ", at::IntArrayRef(shape_.sizes),
                    " takes only these, got ", x.sizes().slice(1, static_cast<size_t>(x.dim() - 2)));
  const at::Tensor values = by_head(value_->forward(zeroed(x, mask)), shape_.heads);
  return out_->forward(mixed(values, mask).flatten(-2).reshape(x.sizes()));
}

at::Tensor FactorProductAttention::full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  return mixed(units(x, shape_.heads), mask).transpose(1, 2);
}

LinformerAttention::LinformerAttention(Initializer& init, const SynthesizerShape& shape, int64_t projected)
    : shape_(shape) {
  query_ = register_module("query_proj", square(init, shape.width));
  key_ = register_module("key_proj", square(init, shape.width));
  value_ = register_module("value_proj", square(init, shape.width));
  out_ = register_module("out_proj", square(init, shape.width));
  key_map_ = register_parameter("key_map", initial_projection(init, projected, shape.columns()));
  value_map_ = register_parameter("value_map", initial_projection(init, projected, shape.columns()));
}

TokenCache LinformerAttention::projected(const Memory& memory) const {
  const at::Tensor tokens = zeroed(memory.tokens, memory.mask).flatten(1, -2);
  std::optional<at::Tensor> mask;
  if (memory.mask) mask = memory.mask->flatten(1);
  return {projected_tokens(key_->forward(tokens), key_map_, mask),
          projected_tokens(value_->forward(tokens), value_map_, mask)};
}

at::Tensor LinformerAttention::attend(const at::Tensor& x, const Memory& memory) {
  return attend_step(x, projected(memory), 0);
}

TokenCache LinformerAttention::remembered(const at::Tensor& tokens) {
  return projected({tokens, {}});
}

at::Tensor LinformerAttention::attend_step(const at::Tensor& x, const TokenCache& memory, int64_t) {
  return out_->forward(ops::full_attention(query_->forward(x), memory.keys, memory.values, shape_.heads));
}

at::Tensor LinformerAttention::forward(const at::Tensor& given, const std::optional<at::Tensor>& mask) {
  const at::Tensor x = valid_tokens("synthesizer", given, mask);
  return attend(x, {x, mask});
}

PrintedMixtureAttention::PrintedMixtureAttention(Initializer& init, const SynthesizerShape& shape,
                                                 std::shared_ptr<LogitSource> inner,
                                                 std::shared_ptr<LogitSource> random)
    : shape_(shape) {
  inner_ = register_module("inner", std::move(inner));
  random_ = register_module("random", std::move(random));
  theta_ = register_parameter("theta", at::zeros({2}));
  value_ = register_module("value_proj", square(init, shape.width));
  out_ = register_module("out_proj", square(init, shape.width));
}

at::Tensor PrintedMixtureAttention::full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  const int64_t n = shape_.rows();
  const ops::SynthesizedLogits inner = inner_->logits(zeroed(x, mask), n);
  const at::Tensor probabilities =
      ops::synthesized_attention(units(x, shape_.heads), inner, n, flat(mask)).transpose(1, 2);
  const ops::SynthesizedLogits random = random_->logits(x, n);
  const at::Tensor shares = cast_like(ops::softmax(theta_), x);
  at::Tensor logits = probabilities * shares[0] + kronecker_product(random.outer, random.inner) * shares[1];
  if (mask) logits = logits.masked_fill(mask->flatten(1).logical_not().unsqueeze(1).unsqueeze(1), -1e30);
  return ops::softmax(logits);
}

at::Tensor PrintedMixtureAttention::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  const at::Tensor values = zeroed(value_->forward(zeroed(x, mask)), mask);
  const at::Tensor heads_first = by_head(values, shape_.heads).transpose(1, 2);
  const at::Tensor mixed = ops::matmul(full_matrix(x, mask), heads_first).transpose(1, 2);
  return out_->forward(mixed.flatten(-2).reshape(x.sizes()));
}

}  // namespace modewise::nn
