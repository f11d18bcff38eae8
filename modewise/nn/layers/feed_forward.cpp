#include "modewise/nn/layers/feed_forward.h"

#include "modewise/ops/dense/feed_forward.h"

namespace modewise::nn {

SwiGLU::SwiGLU(Initializer& init, int64_t width, int64_t hidden)
    : gate_(register_module("w1", std::make_shared<Linear>(init, width, hidden, false))),
      down_(register_module("w2", std::make_shared<Linear>(init, hidden, width, false))),
      up_(register_module("w3", std::make_shared<Linear>(init, width, hidden, false))) {}

SwiGLU::SwiGLU(Initializer& init, int64_t width, int64_t hidden, double stddev, double down_stddev)
    : gate_(register_module("gate_proj", std::make_shared<Linear>(init, width, hidden, stddev))),
      down_(register_module("down_proj", std::make_shared<Linear>(init, hidden, width, down_stddev))),
      up_(register_module("up_proj", std::make_shared<Linear>(init, width, hidden, stddev))) {}

at::Tensor SwiGLU::forward(const at::Tensor& x) {
  return ops::feed_forward(x, {.first = up_->weight(),
                               .second = down_->weight(),
                               .gate = gate_->weight(),
                               .first_bias = {},
                               .second_bias = {}});
}

GELUNetwork::GELUNetwork(Initializer& init, int64_t width, int64_t hidden, double inner_dropout)
    : linear1_(register_module("linear1", std::make_shared<Linear>(init, width, hidden))),
      linear2_(register_module("linear2", std::make_shared<Linear>(init, hidden, width))),
      dropout_(register_module("dropout", std::make_shared<Dropout>(init, inner_dropout))) {}

at::Tensor GELUNetwork::forward(const at::Tensor& x) {
  return ops::feed_forward(x,
                           {.first = linear1_->weight(),
                            .second = linear2_->weight(),
                            .gate = {},
                            .first_bias = linear1_->bias(),
                            .second_bias = linear2_->bias()},
                           dropout_->active_probability(), dropout_->key());
}

}  // namespace modewise::nn
