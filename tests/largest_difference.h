#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

namespace modewise {

/// The largest absolute difference of two tensors, which must have the same shape.
inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return (a - b).abs().max().item<double>();
}

}  // namespace modewise
