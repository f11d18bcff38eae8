#pragma once
// Hands out initial weights and dropout sites while a model is built. The n-th parameter that is drawn uses
// random stream {seed, site 2, step n}, so that weights depend on the seed and the building order alone.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace modewise::nn {

class Initializer {
 public:
  explicit Initializer(uint64_t seed) : seed_(seed) {}
  /// Hands out tensors of any value, for models whose weights will all be read from a file.
  static Initializer without_values() {
    Initializer out(0);
    out.draws_ = false;
    return out;
  }

  /// Float32, uniform in [−bound, bound).
  at::Tensor uniform(at::IntArrayRef sizes, double bound);
  /// Float32, normal with mean 0.
  at::Tensor normal(at::IntArrayRef sizes, double deviation);
  /// The next dropout's place among the random streams, from 16.
  uint32_t dropout_site() { return site_++; }

 private:
  uint64_t seed_;
  uint64_t parameter_ = 0;
  uint32_t site_ = 16;
  bool draws_ = true;
};

}  // namespace modewise::nn
