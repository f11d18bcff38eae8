#pragma once
// Strips of rows, which bound the memory of the reference kernels.

#include <algorithm>
#include <cstdint>

namespace modewise::ops::reference {

/// Rows per strip, at least one, so that a strip of rows of `width` numbers has at most 2²⁴ numbers.
inline int64_t strip_rows(int64_t width) {
  return std::max<int64_t>(1, (int64_t{1} << 24) / std::max<int64_t>(width, 1));
}

}  // namespace modewise::ops::reference
