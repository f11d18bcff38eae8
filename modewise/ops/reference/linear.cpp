#include <ATen/ops/linear.h>

#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  const auto type = x.scalar_type();
  return at::linear(x, weight.to(type), bias ? bias->to(type) : at::Tensor());
}

}  // namespace modewise::ops::reference
