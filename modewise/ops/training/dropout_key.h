#pragma once
// Which random numbers a dropout draws. They depend on the key and on the element's place alone, so that any
// thread may draw any element and nothing is saved for the backward pass.

#include <cstdint>

namespace modewise::ops {

/// Stream `site` at step `step` under `seed` (modewise/core/random.h); sites from RandomSite::dropout on.
struct DropoutKey {
  uint64_t seed = 0;
  uint64_t step = 0;
  uint32_t site = 0;
  /// In dropout_add: torch's generator draws instead, and the mask is kept. So a graph that torch compiles
  /// draws anew in each call, where a seed would be a constant of it.
  bool by_generator = false;
};

}  // namespace modewise::ops
