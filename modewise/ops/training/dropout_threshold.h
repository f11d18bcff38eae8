#pragma once
// The rate of a dropout as the 32-bit threshold that random words are compared with.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace modewise::ops {

/// Words below it are dropped.
inline uint32_t dropout_threshold(double p) {
  return static_cast<uint32_t>(std::min(std::nearbyint(p * 0x1p32), 0x1p32 - 1));
}

/// What a kept element is multiplied by: 1 / (1 − p), 0 when everything is dropped.
inline double dropout_kept_scale(double p) {
  return p < 1 ? 1 / (1 - p) : 0;
}

}  // namespace modewise::ops
