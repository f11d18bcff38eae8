#include "modewise/core/random.h"

#include <numeric>
#include <utility>

namespace modewise {

std::vector<int64_t> random_permutation(int64_t n, const RandomStream& stream) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t i = n - 1; i > 0; --i) {
    // 64 random bits reduced modulo i+1: the bias is below 2^-32 for any data set that fits in memory.
    const auto words = stream.block(static_cast<uint64_t>(i));
    const uint64_t bits = (uint64_t{words[0]} << 32) | words[1];
    std::swap(order[static_cast<size_t>(i)], order[bits % static_cast<uint64_t>(i + 1)]);
  }
  return order;
}

}  // namespace modewise
