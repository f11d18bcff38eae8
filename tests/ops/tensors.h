#pragma once
// Inputs of the operator tests from core/random, identical in every run.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <limits>
#include <vector>

#include "modewise/core/random.h"

namespace modewise::ops {

inline at::Tensor random_tensor(std::vector<int64_t> shape, at::ScalarType type = at::kDouble,
                                uint64_t seed = 1) {
  const auto t = at::empty(shape, at::kDouble);
  const RandomStream stream{seed, RandomSite{1}, 0};
  auto* values = t.mutable_data_ptr<double>();
  for (int64_t i = 0; i < t.numel(); ++i) values[i] = stream.normal(static_cast<uint64_t>(i));
  return t.to(type);
}

/// Integers −3 … 3.
inline at::Tensor integer_tensor(std::vector<int64_t> shape, at::ScalarType type, uint64_t seed = 1) {
  const auto t = at::empty(shape, at::kDouble);
  const RandomStream stream{seed, RandomSite{1}, 0};
  auto* values = t.mutable_data_ptr<double>();
  for (int64_t i = 0; i < t.numel(); ++i)
    values[i] = static_cast<double>(stream.word(static_cast<uint64_t>(i)) % 7) - 3;
  return t.to(type);
}

/// Infinite for tensors of different shapes: no broadcasting.
inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return std::numeric_limits<double>::infinity();
  return a.numel() == 0 ? 0 : (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace modewise::ops
