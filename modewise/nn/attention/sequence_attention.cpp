#include "modewise/nn/attention/sequence_attention.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/aliases.h"
#include "modewise/nn/attention/attention_matrix.h"
#include "modewise/nn/layers/checks.h"
#include "modewise/ops/accumulate_type.h"

namespace modewise::nn {
namespace {

void check_mask(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  TORCH_CHECK_VALUE(x.dim() == 3, "sequence attention expects x [B, n, D], got ", x.sizes());
  if (!mask) return;
  TORCH_CHECK_VALUE(mask->scalar_type() == at::kBool && mask->sizes() == x.sizes().slice(0, 2),
                    "sequence attention expects a bool mask ", x.sizes().slice(0, 2), ", got ",
                    mask->scalar_type(), " ", mask->sizes());
}

}  // namespace

SequenceAttention::SequenceAttention(Initializer& init, const SequenceAttentionOptions& options)
    : heads_(options.heads) {
  const int64_t width = options.width;
  const auto map = [&](const char* name) {
    return register_module(name, std::make_shared<Linear>(init, width, width, options.bias));
  };
  query_ = map("query_proj");
  if (!ops::find_attention_type(options.type)->shared_keys) key_ = map("key_proj");
  value_ = map("value_proj");
  out_ = map("out_proj");
  if (options.dropout > 0)
    dropout_ = register_module("dropout", std::make_shared<Dropout>(init, options.dropout));
}

SequenceAttention::Tokens SequenceAttention::tokens_of(const at::Tensor& given,
                                                       const std::optional<at::Tensor>& mask) const {
  check_mask(given, mask);
  const at::Tensor x = valid_tokens("SequenceAttention", given, mask);
  const auto heads = [&](const std::shared_ptr<Linear>& map) {
    return map ? map->forward(x).unflatten(-1, {heads_, x.size(-1) / heads_}) : at::Tensor();
  };
  return {heads(query_), heads(key_), heads(value_), mask};
}

ops::SoftmaxOptions SequenceAttention::softmax_options() const {
  ops::SoftmaxOptions out;
  const int64_t width = query_->weight().size(0) / heads_;
  out.scale = 1 / std::sqrt(static_cast<double>(width));
  if (dropout_) out.dropout = dropout_->active_probability(), out.key = dropout_->key();
  return out;
}

at::Tensor SequenceAttention::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  return out_->forward(mixed(tokens_of(x, mask)).flatten(-2));
}

at::Tensor SequenceAttention::full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  Tokens tokens = tokens_of(x, mask);
  const at::ScalarType type = ops::accumulate_type(x.scalar_type());
  for (at::Tensor* t : {&tokens.q, &tokens.k})
    if (t->defined()) *t = t->to(type);
  return attention_matrix(tokens.q, [&](const at::Tensor& values) {
    return mixed({tokens.q, tokens.k, values, mask});
  });
}

const SequenceConstructor& sequence_constructor(std::string_view name) {
  const auto list = sequence_constructors();
  const auto found =
      std::ranges::find(list, current_attention(std::string(name)), &SequenceConstructor::name);
  TORCH_CHECK_VALUE(found != list.end(), "unknown sequence attention '", name, "'");
  return *found;
}

std::shared_ptr<Attention> make_sequence_attention(Initializer& init,
                                                   const SequenceAttentionOptions& options) {
  const SequenceConstructor& type = sequence_constructor(options.type);
  TORCH_CHECK_VALUE(options.heads >= 1 && options.width % options.heads == 0, "attention '", type.name,
                    "': heads = ", options.heads, " must divide the width ", options.width);
  SequenceAttentionOptions acting = options;
  if (!ops::find_attention_type(options.type)->dropout) acting.dropout = 0;
  return type.make(init, acting);
}

double weight_share(const SequenceAttentionOptions& options, int64_t n) {
  return compared_pairs(options, n) / (static_cast<double>(n) * static_cast<double>(n));
}

}  // namespace modewise::nn
