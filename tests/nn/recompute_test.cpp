// Activation checkpointing: recomputed blocks against gradients computed by hand.

#include "modewise/nn/recompute.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace modewise::nn {
namespace {

struct Weights : torch::nn::Module {
  Weights() {
    used = register_parameter("used", at::tensor({2.0, 3.0}));
    unused = register_parameter("unused", at::tensor({5.0}));
  }
  at::Tensor used, unused;
};

TEST(Recomputed, LeavesAParameterAloneThatTakesNoPart) {
  Weights weights;
  const at::Tensor x = at::tensor({7.0, 11.0}).requires_grad_(true);
  const at::Tensor y = recomputed(x, weights, [&](const at::Tensor& in) { return in * in * weights.used; });
  EXPECT_TRUE(y.equal(at::tensor({98.0, 363.0})));
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(at::tensor({28.0, 66.0})));              // 2 x w
  EXPECT_TRUE(weights.used.grad().equal(at::tensor({49.0, 121.0})));  // x²
  EXPECT_FALSE(weights.unused.grad().defined());
}

TEST(Recomputed, PassesOverABlockWhoseResultIsNotUsed) {
  Weights first, second;
  const at::Tensor x = at::tensor({7.0, 11.0}).requires_grad_(true);
  const at::Tensor y = recomputed(x, first, [&](const at::Tensor& in) { return in * first.used; });
  const at::Tensor z = recomputed(y, second, [&](const at::Tensor&) { return second.used * second.used; });
  z.sum().backward();
  EXPECT_TRUE(second.used.grad().equal(at::tensor({4.0, 6.0})));
  EXPECT_FALSE(first.used.grad().defined());
  EXPECT_FALSE(x.grad().defined());
}

TEST(Recomputed, RunsAgainIfParametersAloneNeedAGradient) {
  Weights weights;
  int64_t calls = 0;
  const auto block = [&](const at::Tensor& in) {
    ++calls;
    return in * weights.used;
  };
  const at::Tensor x = at::tensor({7.0, 11.0});
  recomputed(x, weights, block).sum().backward();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(weights.used.grad().equal(x));
  weights.used.requires_grad_(false);
  weights.unused.requires_grad_(false);
  EXPECT_FALSE(recomputed(x, weights, block).requires_grad());
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace modewise::nn
