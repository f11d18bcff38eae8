#include <ATen/ops/convolution.h>

#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                       at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation) {
  const auto type = x.scalar_type();
  const std::vector<int64_t> zeros(stride.size(), 0);
  const std::optional<at::Tensor> added = bias ? std::optional(bias->to(type)) : std::nullopt;
  return at::convolution(x.movedim(-1, 1), weight.to(type), added, stride, padding, dilation, false, zeros, 1)
      .movedim(1, -1)
      .contiguous();
}

}  // namespace modewise::ops::reference
