#include <ATen/TensorOperators.h>
#include <ATen/ops/rsqrt.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  const auto type = accumulate_type(x.scalar_type());
  const auto wide = x.to(type);
  const auto centred = wide - wide.mean(-1, true);
  auto out = centred * at::rsqrt((centred * centred).mean(-1, true) + eps);
  if (weight.defined()) out = out * weight.to(type);
  if (bias.defined()) out = out + bias.to(type);
  return out.to(x.scalar_type());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_stats(const at::Tensor& x,
                                                                const std::optional<at::Tensor>& weight,
                                                                const std::optional<at::Tensor>& bias,
                                                                double eps) {
  const auto wide = x.to(accumulate_type(x.scalar_type()));
  const auto mean = wide.mean(-1);
  return {reference::layer_norm(x, weight.value_or(at::Tensor()), bias.value_or(at::Tensor()), eps), mean,
          (wide - mean.unsqueeze(-1)).square().mean(-1).add(eps).rsqrt()};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
    const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& grad_sum) {
  const auto type = accumulate_type(x.scalar_type());
  const auto wide = grad.to(type).reshape({rstd.numel(), x.size(-1)}), scale = rstd.to(type).reshape({-1, 1});
  const auto normed = (x.to(type).reshape(wide.sizes()) - mean.to(type).reshape({-1, 1})) * scale;
  const auto slope = weight ? wide * weight->to(type) : wide;
  const auto own = scale * (slope - slope.mean(-1, true) - normed * (slope * normed).mean(-1, true));
  auto grad_x = own.reshape(x.sizes());
  if (grad_sum) grad_x = grad_x + grad_sum->to(type);
  return {grad_x.to(x.scalar_type()), (wide * normed).sum(0), wide.sum(0)};
}

}  // namespace modewise::ops::reference
