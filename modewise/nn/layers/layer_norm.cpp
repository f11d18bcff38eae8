#include "modewise/nn/layers/layer_norm.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "modewise/ops/normalization/layer_norm.h"

namespace modewise::nn {

LayerNorm::LayerNorm(int64_t width, double eps) : eps_(eps) {
  weight_ = register_parameter("weight", at::ones({width}));
  bias_ = register_parameter("bias", at::zeros({width}));
}

at::Tensor LayerNorm::forward(const at::Tensor& x) const {
  return ops::layer_norm(x, weight_, bias_, eps_);
}

}  // namespace modewise::nn
