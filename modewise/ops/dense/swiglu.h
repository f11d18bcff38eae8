#pragma once
// Fused SwiGLU activation (Shazeer 2020).

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// silu(gate) · up for gate_and_up [..., 2M] with gate in the first M channels and up in the last M -> [...,
/// M].
at::Tensor swiglu(const at::Tensor& gate_and_up);

}  // namespace modewise::ops
