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
  Embedding(Initializer& init, int64_t count, int64_t width, double deviation);

  /// numbers [...] int64 in 0 … count−1 -> [..., D]
  at::Tensor forward(const at::Tensor& numbers) const;
  /// The vectors [count, D] of the numbers from `first` on.
  at::Tensor rows(int64_t first, int64_t count) const;

 private:
  at::Tensor weight_;
};

}  // namespace modewise::nn
