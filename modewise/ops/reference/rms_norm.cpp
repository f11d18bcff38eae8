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

}  // namespace modewise::ops::reference
