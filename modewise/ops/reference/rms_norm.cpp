#include <ATen/TensorOperators.h>
#include <ATen/ops/rsqrt.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const auto type = accumulate_type(x.scalar_type());
  const auto wide = x.to(type);
  auto out = wide * at::rsqrt((wide * wide).mean(-1, true) + eps);
  if (weight.defined()) out = out * weight.to(type);
  return out.to(x.scalar_type());
}

std::tuple<at::Tensor, at::Tensor> rms_norm_stats(const at::Tensor& x,
                                                  const std::optional<at::Tensor>& weight, double eps) {
  const auto wide = x.to(accumulate_type(x.scalar_type()));
  return {reference::rms_norm(x, weight.value_or(at::Tensor()), eps),
          (wide * wide).mean(-1).add(eps).rsqrt()};
}

std::tuple<at::Tensor, at::Tensor> rms_norm_backward(const at::Tensor& grad, const at::Tensor& x,
                                                     const at::Tensor& rstd,
                                                     const std::optional<at::Tensor>& weight) {
  const auto type = accumulate_type(x.scalar_type());
  const auto wide = grad.to(type).reshape({rstd.numel(), x.size(-1)}), scale = rstd.to(type).reshape({-1, 1});
  const auto normed = x.to(type).reshape(wide.sizes()) * scale;
  const auto slope = weight ? wide * weight->to(type) : wide;
  const auto grad_x = scale * (slope - normed * (slope * normed).mean(-1, true));
  return {grad_x.reshape(x.sizes()).to(x.scalar_type()), (wide * normed).sum(0)};
}

}  // namespace modewise::ops::reference
