#pragma once
// What `np.random.seed(seed); np.random.shuffle(...)` makes of 0 … n−1: NumPy's legacy generator (MT19937,
// Knuth's seeding) and its bounded integers (masked rejection). Data sets whose split was never written down
// are split again by it.

#include <cstdint>
#include <vector>

namespace modewise::data {

/// np.arange(n) after `np.random.seed(seed); np.random.shuffle(...)`; n below 2^32.
std::vector<int64_t> numpy_shuffled(int64_t n, uint32_t seed);

}  // namespace modewise::data
