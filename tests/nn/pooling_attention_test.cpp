// Pooling attention has two code paths: with and without dropout of the attention weights.

#include "modewise/nn/attention/pooling_attention.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

namespace modewise::nn {
namespace {

// Among 2 · 3 · 35 · 12 weights, a probability of 1e-9 drops none and scales by 1 + 1e-9.
TEST(PoolingAttention, WithHardlyAnyDropoutIsAsWithoutOne) {
  Initializer init(1);
  PoolingAttention attention(init, 12, 3, {5, 7}, 1e-9);
  attention.to(at::kDouble);
  set_dropout_step(attention, 5, 7);
  const at::Tensor x = at::randn({2, 5, 7, 12}, at::kDouble);
  at::Tensor mask = at::ones({2, 5, 7}, at::kBool);
  mask[1].narrow(0, 3, 2).fill_(false);
  for (const std::optional<at::Tensor>& valid :
       {std::optional<at::Tensor>(), std::optional<at::Tensor>(mask)}) {
    attention.train();
    const at::Tensor dropped = attention.forward(x, valid);
    attention.eval();
    const at::Tensor whole = attention.forward(x, valid);
    EXPECT_LT((dropped - whole).abs().max().item<double>(), 1e-8);
    EXPECT_GT((dropped - whole).abs().max().item<double>(), 1e-12);  // the scale
  }
}

}  // namespace
}  // namespace modewise::nn
