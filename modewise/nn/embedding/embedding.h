#pragma once
// A learned vector for each of a number of things: words, places.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

class Embedding : public torch::nn::Module {
 public:
  /// Weight [count, D], normal with mean 0 and this deviation.
  Embedding(Initializer& init, int64_t count, int64_t width, double stddev);

  /// numbers [...] int64 in 0 … count−1 -> [..., D]
  at::Tensor forward(const at::Tensor& numbers) const;
  /// The vectors [count, D] of the numbers from `first` on.
  at::Tensor rows(int64_t first, int64_t count) const;

  /// Replaces the vector of number p by √2·deviation·(sin p/w^0, cos p/w^0, sin p/w^(2/D), …), w = 10,000:
  /// the positions of Attention Is All You Need (3.5), whose mean square is deviation² where D is even.
  void begin_with_waves(double stddev);

 private:
  at::Tensor weight_;
};

}  // namespace modewise::nn
