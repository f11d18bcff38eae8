#pragma once
// Dropout rate as a 32-bit threshold for random words.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace modewise::ops {

/// Words below it are dropped.
inline uint32_t dropout_threshold(double p) {
  return static_cast<uint32_t>(std::min(std::nearbyint(p * 0x1p32), 0x1p32 - 1));
}

/// Scale of a kept element: 1 / (1 − p), 0 when everything is dropped.
inline double dropout_kept_scale(double p) {
  return p < 1 ? 1 / (1 - p) : 0;
}

}  // namespace modewise::ops
