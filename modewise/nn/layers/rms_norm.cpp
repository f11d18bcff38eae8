#include "modewise/nn/layers/rms_norm.h"

#include <ATen/ops/ones.h>

#include "modewise/ops/normalization/rms_norm.h"

namespace modewise::nn {

RMSNorm::RMSNorm(int64_t width, double eps) : eps_(eps) {
  weight_ = register_parameter("weight", at::ones({width}));
}

at::Tensor RMSNorm::forward(const at::Tensor& x) const {
  return ops::rms_norm(x, weight_, eps_);
}

}  // namespace modewise::nn
