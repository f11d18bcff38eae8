#pragma once
// NumPy's legacy shuffle: `np.random.seed(seed); np.random.shuffle(...)` with its generator (MT19937, Knuth's
// seeding) and bounded integers (masked rejection). It reproduces the split of data sets that publish only
// code.

#include <cstdint>
#include <vector>

namespace modewise::data {

/// np.arange(n) after `np.random.seed(seed); np.random.shuffle(...)`; n below 2^32.
std::vector<int64_t> numpy_shuffled(int64_t n, uint32_t seed);

}  // namespace modewise::data
