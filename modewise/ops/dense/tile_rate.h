#pragma once
// Measured rate of the GEMM micro-kernel on this machine, for comparison with core/processor_rates.h.

#include <c10/core/ScalarType.h>

namespace modewise::ops {

/// Operations per second (a multiply-add is two) of `linear` from 512 to 128 channels, the second layer of a
/// typical feed-forward network, for operands of `type` on one thread.
double tile_rate(at::ScalarType type);

}  // namespace modewise::ops
