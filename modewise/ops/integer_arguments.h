#pragma once
// Bounds of integer arguments of operators. They are checked before any arithmetic, so that no sum or product
// of sizes overflows.

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "modewise/core/integer_bounds.h"

namespace modewise::ops {

/// Largest side of a square matrix that is materialised: it has at most kMaxInteger entries.
constexpr int64_t kMaxSide = 46340;
/// Largest step or site of a random stream: core/random.h keeps 32 bits of each.
constexpr int64_t kMaxWord = (int64_t{1} << 32) - 1;

/// Checks that a count, size or position is in minimum … maximum.
inline void check_integer(const char* op, const char* name, int64_t value, int64_t minimum,
                          int64_t maximum = kMaxInteger) {
  TORCH_CHECK_VALUE(value >= minimum && value <= maximum, op, ": ", name, " must be ", minimum, " … ",
                    maximum, ", got ", value);
}

/// Checks for exactly `count` values in minimum … kMaxInteger.
inline void check_integers(const char* op, const char* name, at::IntArrayRef values, size_t count,
                           int64_t minimum) {
  const bool fits = values.size() == count && std::all_of(values.begin(), values.end(), [&](int64_t value) {
                      return value >= minimum && value <= kMaxInteger;
                    });
  TORCH_CHECK_VALUE(fits, op, ": ", name, " must be ", count, " integers of ", minimum, " … ", kMaxInteger,
                    ", got ", values);
}

/// Checks step and site: beyond 32 bits they would repeat another stream. Any int64 is a seed.
inline void check_dropout_place(const char* op, int64_t step, int64_t site) {
  check_integer(op, "step", step, 0, kMaxWord);
  check_integer(op, "site", site, 0, kMaxWord);
}

/// Checks that positions is int64 [n] on the device of q [B, n, H, d], each within ±kMaxInteger, where
/// float64 still resolves the angles of neighbouring positions. Values are checked only on the CPU: not for
/// meta tensors, other devices or while tracing.
void check_positions(const char* op, const at::Tensor& positions, const at::Tensor& q);

}  // namespace modewise::ops
