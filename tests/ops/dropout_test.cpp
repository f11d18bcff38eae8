// Dropout against core/random word by word, and the fused norm against its unfused parts.

#include "modewise/ops/training/dropout_add.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "modewise/core/random.h"
#include "modewise/ops/dense/swiglu.h"
#include "modewise/ops/kernel_info.h"
#include "modewise/ops/normalization/layer_norm.h"
#include "tests/error_of.h"
#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

TEST(DropoutAdd, DrawsTheWordsThatItsHeaderNames) {
  const DropoutKey key{0xfedcba9876543210, 77, 21};
  const RandomStream stream{key.seed, RandomSite{key.site}, key.step};
  const int64_t n = 1000;
  for (const auto& isa : available_isas()) {
    use_isa(isa);
    const auto out = dropout_add({}, at::ones({n}, at::kDouble), 0.25, key);
    for (int64_t i = 0; i < n; ++i) {
      const auto words = stream.block(static_cast<uint64_t>(16 * (i / 64) + i % 16));
      const bool dropped = words[static_cast<size_t>(i % 64 / 16)] < uint32_t{1} << 30;
      ASSERT_EQ(out[i].item<double>(), dropped ? 0.0 : 1 / 0.75) << isa << ", element " << i;
    }
  }
}

TEST(DropoutAdd, IsTheIdentityWithoutARateAndNothingAtOne) {
  const auto x = random_tensor({7, 9}, at::kFloat), residual = random_tensor({7, 9}, at::kFloat, 2);
  EXPECT_TRUE(dropout_add({}, x, 0, {}).is_same(x));
  EXPECT_TRUE(at::equal(dropout_add(residual, x, 0, {}), residual + x));
  EXPECT_TRUE(at::equal(dropout_add(residual, x, 1, {}), residual));
}

TEST(DropoutAdd, LetsTorchsGeneratorDrawWhereItsKeySaysSo) {
  const auto x = random_tensor({31, 33}, at::kFloat), residual = random_tensor({31, 33}, at::kFloat, 2);
  const DropoutKey key{.by_generator = true};
  at::manual_seed(3);
  const auto dropped = at::dropout(x, 0.25, true);
  at::manual_seed(3);
  EXPECT_TRUE(at::equal(dropout_add(residual, x, 0.25, key), residual + dropped));
  at::manual_seed(3);
  EXPECT_TRUE(at::equal(dropout_add({}, x, 0.25, key), dropped));
  EXPECT_EQ(exception_of<c10::ValueError>([&] { dropout_add({}, x, 1.5, key); }),
            "dropout_add: the dropout rate must be in [0, 1], got 1.5");
}

TEST(DropoutAddNorm, IsItsTwoPartsBitByBit) {
  const DropoutKey key{5, 6, 17};
  for (const int64_t width : {3, 16, 63, 128}) {
    const auto x = random_tensor({77, width}, at::kFloat),
               residual = random_tensor({77, width}, at::kFloat, 2);
    const auto weight = random_tensor({width}, at::kFloat, 3), bias = random_tensor({width}, at::kFloat, 4);
    const auto [sum, normed] = dropout_add_norm(residual, x, 0.1, key, weight, bias);
    EXPECT_TRUE(at::equal(sum, dropout_add(residual, x, 0.1, key)));
    EXPECT_TRUE(at::equal(normed, layer_norm(sum, weight, bias)));
  }
}

TEST(LayerNorm, AgreesWithAtenAndGivesTheSameGradientBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  auto x = random_tensor({3001, 65}, at::kFloat).requires_grad_();
  auto weight = random_tensor({65}, at::kFloat, 2).requires_grad_(),
       bias = random_tensor({65}, at::kFloat, 3);
  const auto ours = layer_norm(x, weight, bias);
  const auto aten = std::get<0>(at::native_layer_norm(x.detach(), {65}, weight.detach(), bias, 1e-5));
  EXPECT_LT(largest_difference(ours, aten), 1e-5);
  std::vector<at::Tensor> grads;
  for (const int threads : {1, 2, 3, 4}) {
    at::set_num_threads(threads);
    x.mutable_grad() = at::Tensor();
    weight.mutable_grad() = at::Tensor();
    layer_norm(x, weight, bias).square().sum().backward();
    grads.push_back(x.grad());
    grads.push_back(weight.grad());
  }
  for (size_t i = 2; i < grads.size(); ++i) EXPECT_TRUE(at::equal(grads[i], grads[i % 2])) << i;
  at::set_num_threads(before);
}

TEST(SwiGlu, NamesTheShapeItWants) {
  EXPECT_EQ(exception_of<c10::ValueError>([&] {
              swiglu(at::ones({3, 5}));
            }),
            "swiglu: gate_and_up must be [..., 2M], got [3, 5]");
}

}  // namespace
}  // namespace modewise::ops
