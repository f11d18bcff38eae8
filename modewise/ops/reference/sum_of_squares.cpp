#include <ATen/core/Tensor.h>

#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor sum_of_squares(const at::Tensor& x) {
  return x.to(at::kDouble).square().sum();
}

}  // namespace modewise::ops::reference
