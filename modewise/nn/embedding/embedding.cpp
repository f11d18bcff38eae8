#include "modewise/nn/embedding/embedding.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <numbers>

namespace modewise::nn {

Embedding::Embedding(Initializer& init, int64_t count, int64_t width, double stddev)
    : weight_(register_parameter("weight", init.normal({count, width}, stddev))) {}

at::Tensor Embedding::forward(const at::Tensor& numbers) const {
  return at::embedding(weight_, numbers);
}

at::Tensor Embedding::rows(int64_t first, int64_t count) const {
  return weight_.narrow(0, first, count);
}

void Embedding::begin_with_waves(double stddev) {
  const int64_t count = weight_.size(0), width = weight_.size(1);
  at::Tensor waves = at::empty({count, width}, at::kFloat);
  auto* x = waves.mutable_data_ptr<float>();
  for (int64_t p = 0; p < count; ++p)
    for (int64_t i = 0; i < width; ++i) {
      const auto pair = static_cast<double>(i / 2 * 2);
      const double angle = static_cast<double>(p) / std::pow(10000.0, pair / static_cast<double>(width));
      *x++ =
          static_cast<float>(std::numbers::sqrt2 * stddev * (i % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  const at::NoGradGuard no_grad;
  weight_.copy_(waves);
}

}  // namespace modewise::nn
