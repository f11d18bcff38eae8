#include "modewise/nn/linear.h"

#include <ATen/core/grad_mode.h>

#include <cmath>

#include "modewise/ops/linear.h"

namespace modewise::nn {

Linear::Linear(Initializer& init, int64_t in, int64_t out, bool bias) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  weight_ = register_parameter("weight", init.uniform({out, in}, bound));
  if (bias) bias_ = register_parameter("bias", init.uniform({out}, bound));
}

at::Tensor Linear::forward(const at::Tensor& x) const {
  return ops::linear(x, weight_, bias_);
}

void Linear::set_to_zero() {
  at::NoGradGuard no_grad;
  weight_.zero_();
  if (bias_.defined()) bias_.zero_();
}

at::Tensor cast_like(const at::Tensor& parameter, const at::Tensor& like) {
  return parameter.defined() ? parameter.to(like.scalar_type()) : parameter;
}

}  // namespace modewise::nn
