#include "modewise/nn/embedding/time_head.h"

#include <ATen/ops/softmax.h>

#include "modewise/nn/layers/checks.h"

namespace modewise::nn {

TimePooling time_pooling(const std::string& name) {
  if (name == "flatten") return TimePooling::flatten;
  if (name == "mean") return TimePooling::mean;
  TORCH_CHECK_VALUE(name == "attention", "TimeHead: pooling must be flatten, mean or attention, got '", name,
                    "'");
  return TimePooling::attention;
}

TimeHead::TimeHead(Initializer& init, TimePooling pooling, int64_t patches, int64_t width, int64_t heads,
                   int64_t outputs, double dropout, bool norm)
    : pooling_(pooling),
      heads_(heads),
      norm_(norm ? register_module("0", std::make_shared<LayerNorm>(width)) : nullptr),
      dropout_(register_module("1", std::make_shared<Dropout>(init, dropout))),
      linear_(register_module(
          "2", std::make_shared<Linear>(init, pooling == TimePooling::flatten ? patches * width : width,
                                        outputs))) {
  if (pooling != TimePooling::attention) return;
  width_of_head("TimeHead", width, heads);
  score_ = register_module("score", std::make_shared<Linear>(init, width, heads, false));
}

at::Tensor TimeHead::forward(const at::Tensor& given, const std::optional<at::Tensor>& mask) const {
  const at::Tensor tokens = valid_tokens("TimeHead", given, mask);
  at::Tensor pooled;
  switch (pooling_) {
    case TimePooling::flatten:
      pooled = normed(tokens).flatten(-2);
      break;
    case TimePooling::mean:
      pooled = normed(mean(tokens, mask));
      break;
    case TimePooling::attention:
      pooled = attend(normed(tokens), mask);
      break;
  }
  return linear_->forward(dropout_->forward(pooled));
}

at::Tensor TimeHead::mean(const at::Tensor& tokens, const std::optional<at::Tensor>& mask) const {
  if (!mask) return tokens.mean(-2);
  const at::Tensor valid = mask->unsqueeze(-1).to(tokens.scalar_type());
  return (tokens * valid).sum(-2) / valid.sum(-2).clamp_min(1);
}

at::Tensor TimeHead::attend(const at::Tensor& tokens, const std::optional<at::Tensor>& mask) const {
  at::Tensor scores =
      score_->forward(tokens).to(tokens.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  // A finite floor instead of −∞: a series without any valid token gets uniform weights instead of NaN.
  if (mask) scores = scores.masked_fill(mask->logical_not().unsqueeze(-1), -1e30);
  const at::Tensor weights = at::softmax(scores, -2).to(tokens.scalar_type());
  std::vector<int64_t> split = tokens.sizes().vec();
  split.back() = heads_;
  split.push_back(tokens.size(-1) / heads_);
  return (tokens.view(split) * weights.unsqueeze(-1)).sum(-3).flatten(-2);
}

}  // namespace modewise::nn
