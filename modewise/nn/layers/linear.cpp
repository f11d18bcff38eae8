#include "modewise/nn/layers/linear.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <cmath>

#include "modewise/ops/dense/linear.h"

namespace modewise::nn {

Linear::Linear(Initializer& init, int64_t in, int64_t out, bool bias) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  weight_ = register_parameter("weight", init.uniform({out, in}, bound));
  if (bias) bias_ = register_parameter("bias", init.uniform({out}, bound));
}

Linear::Linear(Initializer& init, int64_t in, int64_t out, double stddev) {
  weight_ = register_parameter("weight", init.normal({out, in}, stddev));
}

at::Tensor Linear::forward(const at::Tensor& x) const {
  return ops::linear(x, weight_, bias_);
}

void Linear::set_to_zero() {
  at::NoGradGuard no_grad;
  weight_.zero_();
  if (bias_.defined()) bias_.zero_();
}

std::vector<at::Tensor> joint_linear(const at::Tensor& x, std::initializer_list<const Linear*> layers) {
  constexpr int64_t kFewRows = 64;
  std::vector<at::Tensor> out;
  if (x.numel() < kFewRows * x.size(-1)) {
    for (const Linear* layer : layers) out.push_back(layer->forward(x));
    return out;
  }
  std::vector<at::Tensor> weights;
  std::vector<int64_t> sizes;
  for (const Linear* layer : layers) {
    weights.push_back(layer->weight());
    sizes.push_back(layer->weight().size(0));
  }
  return ops::linear(x, at::cat(weights)).split_with_sizes(sizes, -1);
}

at::Tensor cast_like(const at::Tensor& parameter, const at::Tensor& like) {
  return parameter.defined() ? parameter.to(like.scalar_type()) : parameter;
}

}  // namespace modewise::nn
