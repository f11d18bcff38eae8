#include <ATen/TensorOperators.h>
#include <ATen/ops/silu.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor swiglu(const at::Tensor& gate_and_up) {
  const auto wide = gate_and_up.to(accumulate_type(gate_and_up.scalar_type()));
  const auto parts = wide.chunk(2, -1);
  return (at::silu(parts[0]) * parts[1]).to(gate_and_up.scalar_type());
}

at::Tensor swiglu_backward(const at::Tensor& grad, const at::Tensor& gate_and_up) {
  return gradients([](const Tensors& in) -> Tensors { return {reference::swiglu(in[0])}; }, {gate_and_up},
                   {grad})[0];
}

}  // namespace modewise::ops::reference
