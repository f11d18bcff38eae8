#include "modewise/nn/block.h"

#include <ATen/ops/full.h>

#include <utility>

#include "modewise/ops/layer_norm.h"

namespace modewise::nn {

Block::Block(Initializer& init, int64_t width, std::shared_ptr<Attention> attention,
             std::shared_ptr<FeedForward> feed_forward, double dropout, double layer_scale)
    : norm1_(register_module("norm1", std::make_shared<LayerNorm>(width))),
      norm2_(register_module("norm2", std::make_shared<LayerNorm>(width))),
      attention_(register_module("attention", std::move(attention))),
      feed_forward_(register_module("feedforward", std::move(feed_forward))),
      dropout1_(register_module("dropout1", std::make_shared<Dropout>(init, dropout))),
      dropout2_(register_module("dropout2", std::make_shared<Dropout>(init, dropout))) {
  if (layer_scale > 0) {
    scale1_ = register_parameter("scale1", at::full({width}, layer_scale, at::kFloat));
    scale2_ = register_parameter("scale2", at::full({width}, layer_scale, at::kFloat));
  }
}

at::Tensor Block::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  at::Tensor attended = attention_->forward(norm1_->forward(x), mask);
  if (scale1_.defined()) attended = attended * cast_like(scale1_, attended);
  const ops::ResidualNorm middle =
      ops::dropout_add_norm(x, attended, dropout1_->active_probability(), dropout1_->key(), norm2_->weight(),
                            norm2_->bias(), norm2_->eps());
  at::Tensor fed = feed_forward_->forward(middle.normed);
  if (scale2_.defined()) fed = fed * cast_like(scale2_, fed);
  return dropout2_->add_to(middle.sum, fed);
}

std::vector<at::Tensor> Block::factors(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  return attention_->factors(norm1_->forward(x), mask);
}

}  // namespace modewise::nn
