#pragma once
// How fast the tile of our products is here, to be held against core/processor_rates.h.

#include <c10/core/ScalarType.h>

namespace modewise::ops {

/// Operations a second (a multiply-add is two) of `linear` from 512 to 128 channels, the second map of a
/// usual block, for operands of `type` on one thread.
double tile_rate(at::ScalarType type);

}  // namespace modewise::ops
