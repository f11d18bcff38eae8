#pragma once
// Initializer: draws initial weights and assigns dropout sites while a model is built. The n-th parameter
// drawn uses random stream {seed, RandomSite::weights, step n}, so that weights depend only on the seed and
// the order of construction.

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

#include "modewise/core/random.h"

namespace modewise::nn {

class Initializer {
 public:
  explicit Initializer(uint64_t seed) : seed_(seed) {}
  /// Returns uninitialized tensors of this dtype, for models whose weights are all loaded from a file.
  static Initializer without_values(at::ScalarType type = at::kFloat) {
    Initializer out(0);
    out.draws_ = false;
    out.type_ = type;
    return out;
  }

  /// Uniform in [−bound, bound), float32 (without values: any value, this dtype).
  at::Tensor uniform(at::IntArrayRef sizes, double bound);
  /// Normal with mean 0 and standard deviation `stddev`; dtype as above.
  at::Tensor normal(at::IntArrayRef sizes, double stddev);
  /// Random site of the next dropout, from 16.
  uint32_t dropout_site() { return site_++; }
  /// 24 random bits that key the random features of the module with this dropout site. They depend only on
  /// the seed and the site, so that drawing them changes no weight.
  uint32_t feature_key(uint32_t site) const;

 private:
  uint64_t seed_;
  uint64_t parameter_ = 0;
  uint32_t site_ = static_cast<uint32_t>(RandomSite::dropout);
  bool draws_ = true;
  at::ScalarType type_ = at::kFloat;
};

}  // namespace modewise::nn
