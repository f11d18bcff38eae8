#pragma once
// Dropout by counter-based random numbers, fused with the residual addition: parallel, bitwise identical for
// any number of threads, no saved mask.

#include <ATen/core/Tensor.h>

#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

/// residual + dropout(x): each element of x is kept with probability 1 − p and scaled by 1/(1 − p).
/// `residual` may be undefined. p = 0 draws no random numbers. Element i (of a contiguous x) is dropped when
/// word (i mod 64) / 16 of block 16·(i / 64) + i mod 16 of the key's stream is below p·2^32: 16 neighbouring
/// elements use 16 neighbouring blocks, so that vector lanes map to blocks.
at::Tensor dropout_add(const at::Tensor& residual, const at::Tensor& x, double p, DropoutKey key);

}  // namespace modewise::ops
