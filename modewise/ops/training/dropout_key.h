#pragma once
// Random-number key of a dropout. Numbers depend only on the key and the element's index, so that any thread
// can generate any element and no mask is saved for backward.

#include <cstdint>

namespace modewise::ops {

/// Stream `site` at step `step` under `seed` (modewise/core/random.h); sites from RandomSite::dropout on.
struct DropoutKey {
  uint64_t seed = 0;
  uint64_t step = 0;
  uint32_t site = 0;
  /// For dropout_add: uses torch's generator and saves the mask. A graph of torch.compile then draws new
  /// numbers in each call, whereas a seed would be a constant of the graph.
  bool by_generator = false;
};

}  // namespace modewise::ops
