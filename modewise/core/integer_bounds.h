#pragma once
// How large the integers of a config may be.

#include <cstdint>

namespace modewise {

/// The largest integer of a field without a bound of its own: a product of two still fits into 64 bits.
constexpr int64_t kMaxInteger = (int64_t{1} << 31) - 1;
/// Rule::max of fields that nothing is counted with, such as seeds: all that 64 bits hold.
constexpr double kAnyInteger = 0x1p63;

}  // namespace modewise
