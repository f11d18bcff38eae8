#include "modewise/nn/embedding.h"

#include <ATen/ops/embedding.h>

namespace modewise::nn {

Embedding::Embedding(Initializer& init, int64_t count, int64_t width, double deviation)
    : weight_(register_parameter("weight", init.normal({count, width}, deviation))) {}

at::Tensor Embedding::forward(const at::Tensor& numbers) const {
  return at::embedding(weight_, numbers);
}

at::Tensor Embedding::rows(int64_t first, int64_t count) const {
  return weight_.narrow(0, first, count);
}

}  // namespace modewise::nn
