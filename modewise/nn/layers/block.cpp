#include "modewise/nn/layers/block.h"

#include <ATen/ops/full.h>

#include <utility>

#include "modewise/nn/layers/checks.h"
#include "modewise/ops/normalization/layer_norm.h"

namespace modewise::nn {

Block::Block(Initializer& init, int64_t width, std::shared_ptr<Attention> attention,
             std::shared_ptr<FeedForward> feed_forward, double dropout, double layer_scale, double epsilon) {
  if (attention) norm1_ = register_module("norm1", std::make_shared<LayerNorm>(width, epsilon));
  if (feed_forward) norm2_ = register_module("norm2", std::make_shared<LayerNorm>(width, epsilon));
  if (attention) attention_ = register_module("attention", std::move(attention));
  if (feed_forward) feed_forward_ = register_module("feedforward", std::move(feed_forward));
  dropout1_ = register_module("dropout1", std::make_shared<Dropout>(init, dropout));
  dropout2_ = register_module("dropout2", std::make_shared<Dropout>(init, dropout));
  if (layer_scale <= 0) return;
  if (attention_) scale1_ = register_parameter("scale1", at::full({width}, layer_scale, at::kFloat));
  if (feed_forward_) scale2_ = register_parameter("scale2", at::full({width}, layer_scale, at::kFloat));
}

at::Tensor Block::attended(const at::Tensor& x, const std::optional<at::Tensor>& mask) const {
  const at::Tensor out = attention_->forward(norm1_->forward(x), mask);
  return scale1_.defined() ? out * cast_like(scale1_, out) : out;
}

at::Tensor Block::fed(const at::Tensor& normed) const {
  const at::Tensor out = feed_forward_->forward(normed);
  return scale2_.defined() ? out * cast_like(scale2_, out) : out;
}

at::Tensor Block::forward(const at::Tensor& given, const std::optional<at::Tensor>& mask) {
  const at::Tensor x = valid_tokens("Block", given, mask);
  if (!feed_forward_) return dropout1_->add_to(x, attended(x, mask));
  if (!attention_) return dropout2_->add_to(x, fed(norm2_->forward(x)));
  const ops::ResidualNorm middle =
      ops::dropout_add_norm(x, attended(x, mask), dropout1_->active_probability(), dropout1_->key(),
                            norm2_->weight(), norm2_->bias(), norm2_->eps());
  return dropout2_->add_to(middle.sum, fed(middle.normed));
}

std::vector<at::Tensor> Block::factors(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  if (!attention_) return {};
  return attention_->factors(norm1_->forward(valid_tokens("Block", x, mask)), mask);
}

at::Tensor Block::full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  if (!attention_) return {};
  return attention_->full_matrix(norm1_->forward(valid_tokens("Block", x, mask)), mask);
}

}  // namespace modewise::nn
