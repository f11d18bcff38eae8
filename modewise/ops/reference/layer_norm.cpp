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

}  // namespace modewise::ops::reference
