#pragma once
// Rotary position codes (Su et al. 2021, the rotate_half form) for token tensors of any order, for the
// attention forms that have queries and keys of every token; Kronecker attention rotates its pooled ones
// itself.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::nn {

/// x [B, N_1 … N_k, D] with `heads` heads of width d: the d/2 frequencies are shared equally among `modes`;
/// what is left over is not turned. One mode gives the usual code.
at::Tensor rotate(const at::Tensor& x, int64_t heads, const std::vector<int64_t>& modes, double base);

}  // namespace modewise::nn
