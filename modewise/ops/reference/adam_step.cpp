#include <ATen/TensorOperators.h>

#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

void adam_step(const at::Tensor& w, const at::Tensor& gradient, const at::Tensor& m, const at::Tensor& v,
               const AdamStep& step) {
  const auto g = gradient * step.gradient_scale + w * step.added_decay;
  m.add_((g - m) * (1 - step.beta1));
  v.mul_(step.beta2).add_(g * g * (1 - step.beta2));
  w.mul_(step.keep).sub_(m / (v.sqrt() / step.root_scale + step.epsilon) * step.step_size);
}

}  // namespace modewise::ops::reference
