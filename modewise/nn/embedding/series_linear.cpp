#include "modewise/nn/embedding/series_linear.h"

#include <ATen/core/grad_mode.h>

#include <cmath>

#include "modewise/nn/layers/linear.h"
#include "modewise/ops/dense/linear.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::nn {

SeriesLinear::SeriesLinear(Initializer& init, int64_t series, int64_t in, int64_t out) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  if (series > 0) {
    weight_ = register_parameter("weight", init.uniform({series, out, in}, bound));
    bias_ = register_parameter("bias", init.uniform({series, out}, bound));
  } else {
    weight_ = register_parameter("weight", init.uniform({out, in}, bound));
    bias_ = register_parameter("bias", init.uniform({out}, bound));
  }
}

at::Tensor SeriesLinear::forward(const at::Tensor& x) const {
  if (weight_.dim() == 2) return ops::linear(x, weight_, bias_);
  const at::Tensor weight = cast_like(weight_, x), bias = cast_like(bias_, x);
  const at::Tensor by_series = x.flatten(1, -2).transpose(0, 1);  // [N, B, in]
  const at::Tensor out =
      ops::matmul(by_series, weight.transpose(1, 2)).transpose(0, 1) + bias;  // [B, N, out]
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = out.size(-1);
  return out.reshape(sizes);
}

void SeriesLinear::set_weights(double value) {
  at::NoGradGuard no_grad;
  weight_.fill_(value);
}

void SeriesLinear::set_to_zero() {
  set_weights(0);
  at::NoGradGuard no_grad;
  bias_.zero_();
}

}  // namespace modewise::nn
