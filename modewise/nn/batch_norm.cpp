#include "modewise/nn/batch_norm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include <tuple>

#include "modewise/nn/linear.h"
#include "modewise/ops/masked_moments.h"

namespace modewise::nn {

BatchNorm::BatchNorm(int64_t width, double eps, double momentum) : eps_(eps), momentum_(momentum) {
  weight_ = register_parameter("weight", at::ones({width}));
  bias_ = register_parameter("bias", at::zeros({width}));
  running_mean_ = register_buffer("running_mean", at::zeros({width}));
  running_var_ = register_buffer("running_var", at::ones({width}));
}

at::Tensor BatchNorm::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  if (!is_training()) {
    const at::Tensor factor = weight_ * (running_var_ + eps_).rsqrt();
    return x * cast_like(factor, x) + cast_like(bias_ - running_mean_ * factor, x);
  }
  // Statistics in the parameters' precision.
  const at::Tensor rows = x.reshape({-1, x.size(-1)}).to(weight_.scalar_type());
  at::Tensor mean, var, count;
  if (mask)
    std::tie(mean, var, count) = ops::masked_moments(rows, mask->reshape({-1}));
  else
    mean = rows.mean(0);
  const at::Tensor centred = rows - mean;
  if (!mask) {
    var = centred.square().mean(0);
    count = at::scalar_tensor(static_cast<double>(rows.size(0)), rows.options().dtype(at::kDouble));
  }
  {
    at::NoGradGuard no_grad;
    ops::update_moments(running_mean_, running_var_, mean, var, count, momentum_);
  }
  return (centred * ((var + eps_).rsqrt() * weight_) + bias_).to(x.scalar_type()).view(x.sizes());
}

}  // namespace modewise::nn
