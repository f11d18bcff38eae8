#pragma once
// Sum along a fixed tree: the same bits for any number of threads, with small rounding errors.

#include <span>

namespace modewise::ops {

inline double pairwise_sum(std::span<const double> values) {
  if (values.empty()) return 0;
  if (values.size() == 1) return values[0];
  const size_t half = values.size() / 2;
  return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
}

}  // namespace modewise::ops
