#include "modewise/nn/layers/residual_block.h"

#include <ATen/ops/relu.h>

namespace modewise::nn {

ResidualBlock::ResidualBlock(Initializer& init, int64_t in, int64_t hidden, int64_t out, double dropout,
                             bool norm)
    : hidden_(register_module("hidden", std::make_shared<Linear>(init, in, hidden))),
      out_(register_module("out", std::make_shared<Linear>(init, hidden, out))),
      skip_(register_module("skip", std::make_shared<Linear>(init, in, out))),
      dropout_(register_module("dropout", std::make_shared<Dropout>(init, dropout))) {
  if (norm) norm_ = register_module("norm", std::make_shared<LayerNorm>(out));
}

at::Tensor ResidualBlock::forward(const at::Tensor& x) const {
  const at::Tensor y = dropout_->add_to(skip_->forward(x), out_->forward(at::relu(hidden_->forward(x))));
  return norm_ ? norm_->forward(y) : y;
}

}  // namespace modewise::nn
