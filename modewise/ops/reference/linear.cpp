#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  const auto type = x.scalar_type();
  return at::linear(x, weight.to(type), bias ? bias->to(type) : at::Tensor());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> linear_backward(const at::Tensor& grad, const at::Tensor& x,
                                                               const at::Tensor& weight, bool x_wanted,
                                                               bool weight_wanted, bool bias_wanted) {
  const auto bias = at::zeros({weight.size(0)}, weight.options());
  const auto out =
      gradients([](const Tensors& in) -> Tensors { return {reference::linear(in[0], in[1], in[2])}; },
                {x, weight, bias}, {grad}, {x_wanted, weight_wanted, bias_wanted});
  return {out[0], out[1], out[2]};
}

}  // namespace modewise::ops::reference
