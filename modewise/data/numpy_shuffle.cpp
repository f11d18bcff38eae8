#include "modewise/data/numpy_shuffle.h"

#include <bit>
#include <numeric>
#include <random>
#include <utility>

#include "modewise/core/error.h"

namespace modewise::data {

std::vector<int64_t> numpy_shuffled(int64_t n, uint32_t seed) {
  require(n >= 0 && n < (int64_t{1} << 32), ErrorKind::internal,
          "numpy_shuffled: 0 to 2^32 − 1 elements, got {}", n);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::mt19937 generator(seed);  // fully specified by the C++ standard
  for (auto i = static_cast<uint32_t>(n > 0 ? n - 1 : 0); i > 0; --i) {
    const uint32_t mask = ~uint32_t{0} >> std::countl_zero(i);
    uint32_t j = 0;
    do j = static_cast<uint32_t>(generator()) & mask;
    while (j > i);
    std::swap(order[i], order[j]);
  }
  return order;
}

}  // namespace modewise::data
