#pragma once
// Bounds for integers of a config.

#include <cstdint>

namespace modewise {

/// Maximum of a field without its own bound: a product of two still fits into 64 bits.
constexpr int64_t kMaxInteger = (int64_t{1} << 31) - 1;
/// Rule::max of fields that are not counts, such as seeds: any 64-bit integer.
constexpr double kAnyInteger = 0x1p63;

}  // namespace modewise
