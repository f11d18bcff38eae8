#pragma once
// Bounds of the integers that operators take. They are checked before anything is computed with them, so that
// no sum and no product of sizes overflows.

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "modewise/core/integer_bounds.h"

namespace modewise::ops {

/// The largest side of a square matrix that is formed: its entries are at most kMaxInteger.
constexpr int64_t kMaxSide = 46340;
/// The largest step or site of a random stream: core/random.h keeps 32 bits of each.
constexpr int64_t kMaxWord = (int64_t{1} << 32) - 1;

/// A count, size or position in least … most.
inline void check_integer(const char* op, const char* name, int64_t value, int64_t minimum,
                          int64_t maximum = kMaxInteger) {
  TORCH_CHECK_VALUE(value >= minimum && value <= maximum, op, ": ", name, " must be ", minimum, " … ", maximum,
                    ", got ", value);
}

/// Exactly `count` of them, each in least … kMaxInteger.
inline void check_integers(const char* op, const char* name, at::IntArrayRef values, size_t count,
                           int64_t minimum) {
  const bool fits = values.size() == count && std::all_of(values.begin(), values.end(), [&](int64_t value) {
                      return value >= minimum && value <= kMaxInteger;
                    });
  TORCH_CHECK_VALUE(fits, op, ": ", name, " must be ", count, " integers of ", minimum, " … ", kMaxInteger,
                    ", got ", values);
}

/// Any 64 bits are a seed; a step or a site beyond 32 bits would draw what another draws.
inline void check_dropout_place(const char* op, int64_t step, int64_t site) {
  check_integer(op, "step", step, 0, kMaxWord);
  check_integer(op, "site", site, 0, kMaxWord);
}

/// positions is int64 [n] on the device of q [B, n, H, d], each within ±kMaxInteger, where float64 still
/// tells the angles of neighbours apart. The values are asked where they can be read: not of meta tensors, of
/// other devices or while a graph is traced.
void check_positions(const char* op, const at::Tensor& positions, const at::Tensor& q);

}  // namespace modewise::ops
