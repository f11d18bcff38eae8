#pragma once
// Strips of rows, which bound the memory of the reference kernels.

#include <algorithm>
#include <cstdint>

namespace modewise::ops::reference {

/// Rows per strip, at least one, so that a strip of rows of `width` numbers has at most 2²⁴ numbers.
int64_t strip_rows(int64_t width);

/// Calls body(first, count) for each strip of the n rows.
template <class Body>
void for_strips(int64_t n, int64_t width, const Body& body) {
  const int64_t rows = strip_rows(width);
  for (int64_t first = 0; first < n; first += rows) body(first, std::min(rows, n - first));
}

/// Another limit than 2²⁴ while it exists, so that tests need fewer numbers for several strips.
class StripLimit {
 public:
  explicit StripLimit(int64_t numbers);
  ~StripLimit();
  StripLimit(const StripLimit&) = delete;
  StripLimit& operator=(const StripLimit&) = delete;
};

}  // namespace modewise::ops::reference
