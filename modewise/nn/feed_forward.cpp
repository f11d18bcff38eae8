#include "modewise/nn/feed_forward.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>

#include "modewise/ops/linear.h"
#include "modewise/ops/swiglu.h"

namespace modewise::nn {

SwiGLU::SwiGLU(Initializer& init, int64_t width, int64_t hidden)
    : gate_(register_module("w1", std::make_shared<Linear>(init, width, hidden, false))),
      down_(register_module("w2", std::make_shared<Linear>(init, hidden, width, false))),
      up_(register_module("w3", std::make_shared<Linear>(init, width, hidden, false))) {}

SwiGLU::SwiGLU(Initializer& init, int64_t width, int64_t hidden, double deviation, double down_deviation)
    : gate_(register_module("gate_proj", std::make_shared<Linear>(init, width, hidden, deviation))),
      down_(register_module("down_proj", std::make_shared<Linear>(init, hidden, width, down_deviation))),
      up_(register_module("up_proj", std::make_shared<Linear>(init, width, hidden, deviation))) {}

at::Tensor SwiGLU::forward(const at::Tensor& x) {
  constexpr int64_t kFewRows = 64;
  if (x.numel() < kFewRows * x.size(-1))  // no weight is copied for a few tokens
    return down_->forward(ops::swiglu(at::cat({gate_->forward(x), up_->forward(x)}, -1)));
  // One product for gate and up: the two weights are small, the tokens many.
  const at::Tensor weight = at::cat({gate_->weight(), up_->weight()});
  return down_->forward(ops::swiglu(ops::linear(x, weight)));
}

GELUNetwork::GELUNetwork(Initializer& init, int64_t width, int64_t hidden, double inner_dropout)
    : linear1_(register_module("linear1", std::make_shared<Linear>(init, width, hidden))),
      linear2_(register_module("linear2", std::make_shared<Linear>(init, hidden, width))),
      dropout_(register_module("dropout", std::make_shared<Dropout>(init, inner_dropout))) {}

at::Tensor GELUNetwork::forward(const at::Tensor& x) {
  return linear2_->forward(dropout_->forward(at::gelu(linear1_->forward(x))));
}

}  // namespace modewise::nn
