#include <ATen/TensorOperators.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm(const at::Tensor& x, const at::Tensor& weight,
                                                          const at::Tensor& bias, double eps) {
  const auto type = accumulate_type(x.scalar_type());
  const auto rows = x.to(type).reshape({-1, x.size(-1)});
  const auto mean = rows.mean(0), centred = rows - mean, var = centred.square().mean(0);
  const auto out = centred * (var + eps).rsqrt() * weight.to(type) + bias.to(type);
  return {out.to(x.scalar_type()).reshape(x.sizes()), mean, var};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_backward(const at::Tensor& grad,
                                                                   const at::Tensor& x,
                                                                   const at::Tensor& mean,
                                                                   const at::Tensor& var,
                                                                   const at::Tensor& weight, double eps) {
  const auto type = accumulate_type(x.scalar_type());
  const auto wide = grad.to(type).reshape({-1, x.size(-1)}), rstd = (var + eps).rsqrt();
  const auto normed = (x.to(type).reshape(wide.sizes()) - mean) * rstd;
  const auto grad_x = rstd * weight.to(type) * (wide - wide.mean(0) - normed * (wide * normed).mean(0));
  return {grad_x.to(x.scalar_type()).reshape(x.sizes()), (wide * normed).sum(0), wide.sum(0)};
}

}  // namespace modewise::ops::reference
