#pragma once
// Embedding table: a learned vector per token, position or type.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

class Embedding : public torch::nn::Module {
 public:
  /// Weight [count, D], normal with mean 0 and standard deviation `stddev`.
  Embedding(Initializer& init, int64_t count, int64_t width, double stddev);

  /// numbers [...] int64 in 0 … count−1 -> [..., D]
  at::Tensor forward(const at::Tensor& numbers) const;
  /// Rows [first, first + count) of the table: [count, D].
  at::Tensor rows(int64_t first, int64_t count) const;

  /// Initializes row p to the sinusoidal position encoding of Attention Is All You Need (3.5),
  /// √2·stddev·(sin p/w^0, cos p/w^0, sin p/w^(2/D), …), w = 10,000: mean square stddev² for even D.
  void begin_with_waves(double stddev);

 private:
  at::Tensor weight_;
};

}  // namespace modewise::nn
