#include "modewise/nn/initializer.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace modewise::nn {
at::Tensor Initializer::uniform(at::IntArrayRef sizes, double bound) {
  const RandomStream stream{seed_, RandomSite::weights, parameter_++};
  at::Tensor out = at::empty(sizes, type_);
  if (!draws_) return out;
  float* values = out.mutable_data_ptr<float>();
  const int64_t count = out.numel();
  for (int64_t i = 0; i < count; i += 4) {
    const auto words = stream.block(static_cast<uint64_t>(i / 4));
    for (int64_t j = i; j < std::min(count, i + 4); ++j)
      values[j] = static_cast<float>((2 * ((words[static_cast<size_t>(j - i)] >> 8) * 0x1p-24) - 1) * bound);
  }
  return out;
}

uint32_t Initializer::feature_key(uint32_t site) const {
  return RandomStream{seed_, RandomSite::features, site}.word(0) >> 8;
}

at::Tensor Initializer::normal(at::IntArrayRef sizes, double stddev) {
  const RandomStream stream{seed_, RandomSite::weights, parameter_++};
  at::Tensor out = at::empty(sizes, type_);
  if (!draws_) return out;
  float* values = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); ++i)
    values[i] = static_cast<float>(stream.normal(static_cast<uint64_t>(i)) * stddev);
  return out;
}

}  // namespace modewise::nn
