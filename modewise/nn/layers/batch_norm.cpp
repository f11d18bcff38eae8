#include "modewise/nn/layers/batch_norm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include "modewise/nn/layers/checks.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/ops/normalization/batch_norm.h"
#include "modewise/ops/normalization/masked_moments.h"

namespace modewise::nn {

BatchNorm::BatchNorm(int64_t width, double eps, double momentum) : eps_(eps), momentum_(momentum) {
  weight_ = register_parameter("weight", at::ones({width}));
  bias_ = register_parameter("bias", at::zeros({width}));
  running_mean_ = register_buffer("running_mean", at::zeros({width}));
  running_var_ = register_buffer("running_var", at::ones({width}));
}

at::Tensor BatchNorm::forward(const at::Tensor& given, const std::optional<at::Tensor>& mask) {
  const at::Tensor x = valid_tokens("BatchNorm", given, mask);
  if (!is_training()) {
    const at::Tensor factor = weight_ * (running_var_ + eps_).rsqrt();
    return x * cast_like(factor, x) + cast_like(bias_ - running_mean_ * factor, x);
  }
  if (!mask) {
    if (x.numel() <= x.size(-1))
      throw BatchTooSmall({static_cast<const char*>(__func__), __FILE__, static_cast<uint32_t>(__LINE__)},
                          fmt::format("BatchNorm: expected more than 1 value per channel in training, got "
                                      "[{}]: the variance of one value is 0",
                                      fmt::join(x.sizes(), ", ")));
    auto [out, mean, var] = ops::batch_norm(x, weight_, bias_, eps_);
    const auto rows = static_cast<double>(x.numel() / x.size(-1));
    update(mean, var, at::scalar_tensor(rows, x.options().dtype(at::kDouble)));
    return out;
  }
  // Statistics in the parameters' dtype.
  const at::Tensor rows = x.reshape({-1, x.size(-1)}).to(weight_.scalar_type());
  const auto [mean, var, count] = ops::masked_moments(rows, mask->reshape({-1}));
  update(mean, var, count);
  return ((rows - mean) * ((var + eps_).rsqrt() * weight_) + bias_).to(x.scalar_type()).view(x.sizes());
}

void BatchNorm::update(const at::Tensor& mean, const at::Tensor& var, const at::Tensor& count) {
  const at::NoGradGuard no_grad;
  const auto type = running_mean_.scalar_type();
  ops::update_moments(running_mean_, running_var_, mean.to(type), var.to(type), count, momentum_);
}

}  // namespace modewise::nn
