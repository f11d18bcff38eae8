#include <ATen/ops/matmul.h>

#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor matmul(const at::Tensor& a, const at::Tensor& b) {
  return at::matmul(a, b);
}

}  // namespace modewise::ops::reference
