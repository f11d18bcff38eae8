#include "modewise/nn/attention/divided_attention.h"

#include <algorithm>
#include <utility>

#include "modewise/nn/layers/checks.h"
#include "modewise/ops/attention/axis_attention.h"
#include "modewise/ops/attention/rotary.h"
#include "modewise/ops/dense/linear.h"

namespace modewise::nn {

DividedAttention::DividedAttention(Initializer& init, int64_t width, int64_t heads, int64_t modes,
                                   TokenAttentionOptions options)
    : heads_(heads), modes_(modes), options_(std::move(options)) {
  const int64_t head = width_of_head("DividedAttention", width, heads);
  ops::check_modes("DividedAttention", "rotary_modes", options_.rotary_modes, modes);
  query_ = register_module("query_proj", std::make_shared<Linear>(init, width, modes * width));
  key_ = register_module("key_proj", std::make_shared<Linear>(init, width, modes * width));
  value_ = register_module("value_proj", std::make_shared<Linear>(init, width, modes * width));
  if (options_.query_key_norm) {
    query_norm_ = register_module("q_norm", std::make_shared<LayerNorm>(head));
    key_norm_ = register_module("k_norm", std::make_shared<LayerNorm>(head));
  }
  dropouts_ = register_module("dropout", std::make_shared<ModuleList<Dropout>>());
  for (int64_t mode = 0; mode < modes; ++mode)
    dropouts_->push_back(std::make_shared<Dropout>(init, options_.dropout));
}

at::Tensor DividedAttention::step(const at::Tensor& x, int64_t mode,
                                  const std::optional<at::Tensor>& mask) const {
  const int64_t width = x.size(-1);
  const auto project = [&](const Linear& all) {
    return ops::linear(x, all.weight().narrow(0, mode * width, width),
                       all.bias().narrow(0, mode * width, width));
  };
  at::Tensor q = project(*query_), k = project(*key_);
  if (query_norm_) {
    q = norm_heads(q, heads_, *query_norm_);
    k = norm_heads(k, heads_, *key_norm_);
  }
  // A query and its keys differ in their position along this mode only.
  if (std::find(options_.rotary_modes.begin(), options_.rotary_modes.end(), mode) !=
      options_.rotary_modes.end()) {
    q = rotate_heads(q, heads_, mode, options_.rotary_base);
    k = rotate_heads(k, heads_, mode, options_.rotary_base);
  }
  const Dropout& dropout = (*dropouts_)[static_cast<size_t>(mode)];
  return ops::axis_attention(q, k, project(*value_), heads_, mode, mask, {}, dropout.active_probability(),
                             dropout.key());
}

at::Tensor DividedAttention::forward(const at::Tensor& given, const std::optional<at::Tensor>& mask) {
  TORCH_CHECK_VALUE(given.dim() == modes_ + 2, "DividedAttention: x must have ", modes_ + 2,
                    " axes (batch, modes, channels), got ", given.sizes());
  const at::Tensor x = valid_tokens("DividedAttention", given, mask);
  at::Tensor sum;
  for (int64_t mode = 0; mode < modes_; ++mode) {
    const at::Tensor added = step(sum.defined() ? x + sum : x, mode, mask);
    sum = sum.defined() ? sum + added : added;
  }
  return sum;
}

}  // namespace modewise::nn
