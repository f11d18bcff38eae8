#pragma once
// Dropout by counter-based random numbers, fused with the residual sum: parallel, the same bits for any
// number of threads, no mask kept for the backward pass.

#include <ATen/core/Tensor.h>

#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

/// residual + dropout(x): each element of x is kept with probability 1 − p and scaled by 1/(1 − p).
/// `residual` may be undefined. p = 0 draws nothing. Element i (in the order of a contiguous x) is dropped
/// when word (i mod 64) / 16 of block 16·(i / 64) + i mod 16 of the key's stream is below p·2^32: sixteen
/// neighbouring elements use sixteen neighbouring blocks, so that vector lanes are blocks.
at::Tensor dropout_add(const at::Tensor& residual, const at::Tensor& x, double p, DropoutKey key);

}  // namespace modewise::ops
