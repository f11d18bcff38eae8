#pragma once
// Hands out initial weights and dropout sites while a model is built. The n-th parameter that is drawn uses
// random stream {seed, RandomSite::weights, step n}, so that weights depend on the seed and the building
// order alone.

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

#include "modewise/core/random.h"

namespace modewise::nn {

class Initializer {
 public:
  explicit Initializer(uint64_t seed) : seed_(seed) {}
  /// Hands out tensors of this type and of any value, for models whose weights will all be read from a file.
  static Initializer without_values(at::ScalarType type = at::kFloat) {
    Initializer out(0);
    out.draws_ = false;
    out.type_ = type;
    return out;
  }

  /// Uniform in [−bound, bound); float32 where values are drawn.
  at::Tensor uniform(at::IntArrayRef sizes, double bound);
  /// Normal with mean 0; float32 where values are drawn.
  at::Tensor normal(at::IntArrayRef sizes, double stddev);
  /// The next dropout's place among the random streams, from 16.
  uint32_t dropout_site() { return site_++; }
  /// 24 random bits that name the random features of the module with this dropout site. They depend on the
  /// seed and the site alone, so that drawing them changes no weight.
  uint32_t feature_key(uint32_t site) const;

 private:
  uint64_t seed_;
  uint64_t parameter_ = 0;
  uint32_t site_ = static_cast<uint32_t>(RandomSite::dropout);
  bool draws_ = true;
  at::ScalarType type_ = at::kFloat;
};

}  // namespace modewise::nn
