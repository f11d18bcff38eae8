// NaN and infinities under a mask reach no result of a valid token and no gradient; finite values keep their
// bits.

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "modewise/nn/attention/divided_attention.h"
#include "modewise/nn/attention/grid_attention.h"
#include "modewise/nn/attention/pooling_attention.h"
#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/nn/embedding/time_head.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/block.h"
#include "tests/error_of.h"

namespace modewise::nn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Apply = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& mask)>;

at::Tensor filled(const at::Tensor& x, const at::Tensor& mask, double value) {
  return x.masked_fill(mask.logical_not().unsqueeze(-1), value);
}

/// The gradients of the squared result with `value` under the mask of x; undefined ones are left out.
std::vector<at::Tensor> gradients(torch::nn::Module& module, const Apply& apply, const at::Tensor& x,
                                  const at::Tensor& mask, double value) {
  module.zero_grad();
  const at::Tensor given = filled(x, mask, value).requires_grad_();
  apply(given, mask).square().sum().backward();
  std::vector<at::Tensor> out = {given.grad()};
  for (const auto& parameter : module.parameters())
    if (parameter.grad().defined()) out.push_back(parameter.grad().clone());
  return out;
}

/// `apply` gives the results that a mask lets through.
void expect_ignored(const std::string& name, torch::nn::Module& module, const Apply& apply,
                    const at::Tensor& x, const at::Tensor& mask) {
  module.to(at::kDouble);
  module.eval();
  const at::Tensor wanted = apply(filled(x, mask, 0), mask);
  const std::vector<at::Tensor> of_zero = gradients(module, apply, x, mask, 0);
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
    EXPECT_TRUE(apply(filled(x, mask, value), mask).equal(wanted)) << name << " " << value;
    const std::vector<at::Tensor> found = gradients(module, apply, x, mask, value);
    ASSERT_EQ(found.size(), of_zero.size()) << name;
    for (size_t i = 1; i < found.size(); ++i)
      EXPECT_TRUE(found[i].equal(of_zero[i])) << name << " " << value << ", parameter " << i;
    EXPECT_TRUE(found[0].isfinite().all().item<bool>()) << name << " " << value;
  }
}

at::Tensor mask_of(std::vector<int64_t> sizes) {
  at::Tensor mask = at::rand(sizes).lt(0.6);
  mask.select(1, 0).fill_(true);
  return mask;
}

void expect_forward_ignores(const std::string& name, Attention& attention, std::vector<int64_t> sizes) {
  const at::Tensor mask = mask_of(sizes);
  sizes.push_back(8);
  const at::Tensor x = at::randn(sizes, at::kDouble);
  const Apply apply = [&](const at::Tensor& tokens, const at::Tensor& valid) {
    return filled(attention.forward(tokens, valid), valid, 0);
  };
  expect_ignored(name, attention, apply, x, mask);
}

void expect_memory_ignores(const std::string& name, Attention& attention) {
  const at::Tensor mask = mask_of({2, 5}), memory = at::randn({2, 5, 8}, at::kDouble);
  const at::Tensor x = at::randn({2, 4, 4, 8}, at::kDouble);
  expect_ignored(
      name, attention,
      [&](const at::Tensor& tokens, const at::Tensor& valid) {
        return attention.attend(x, {tokens, valid});
      },
      memory, mask);
  attention.to(at::kDouble);
  const at::Tensor matrix = attention.attend_matrix(x, {filled(memory, mask, kInfinity), mask});
  EXPECT_TRUE(!matrix.defined() || matrix.isfinite().all().item<bool>()) << name;
}

TEST(MaskedValues, AreIgnoredByAttentionOfModes) {
  Initializer init(1);
  const auto with = [](AttentionScope scope, int64_t features = -1) {
    return TokenAttentionOptions{.scope = scope, .features = features};
  };
  TokenAttention all(init, 8, 2, {}), performer(init, 8, 2, with(AttentionScope::all, 0)),
      spatial(init, 8, 2, with(AttentionScope::spatial)),
      temporal(init, 8, 2, with(AttentionScope::temporal));
  expect_forward_ignores("all", all, {2, 3, 4});
  expect_forward_ignores("features", performer, {2, 3, 4});
  expect_forward_ignores("spatial", spatial, {2, 3, 4});
  expect_forward_ignores("temporal", temporal, {2, 3, 4});
  DividedAttention divided(init, 8, 2, 2, {});
  expect_forward_ignores("divided", divided, {2, 3, 4});
  PoolingAttention pooling(init, 8, 2, {3, 4}, 0);
  expect_forward_ignores("pooling", pooling, {2, 3, 4});
  for (const std::string kernel : {"softmax", "linear"}) {
    ops::KroneckerAttentionOptions options;
    options.heads = 2;
    options.kernel = kernel;
    KroneckerAttention kronecker(init, 8, 2, true, 0, options);
    expect_forward_ignores("kronecker " + kernel, kronecker, {2, 3, 4});
  }
}

TEST(MaskedValues, AreIgnoredByEveryTypeOfASequence) {
  for (const SequenceConstructor& type : sequence_constructors()) {
    Initializer init(1);
    const auto attention = make_sequence_attention(
        init, {.width = 8, .heads = 2, .tokens = 12, .type = std::string(type.name), .fold = {3, 4}});
    expect_forward_ignores(std::string(type.name), *attention, {2, 12});
  }
}

TEST(MaskedValues, AreIgnoredByEveryTypeOfAGrid) {
  for (const GridConstructor& type : grid_constructors()) {
    Initializer init(1);
    const std::string name(type.name);
    expect_forward_ignores(name, *make_attention(init, name, {{3, 4}, 0, 8, 2}), {2, 3, 4});
    if (ops::find_attention_type(name, ops::TokenLayout::grid)->cross_attention)
      expect_memory_ignores(name, *make_attention(init, name, {{4, 4}, 5, 8, 2}));
  }
  Initializer init(1);
  TokenAttention performer(init, 8, 2, {.features = 0});
  expect_memory_ignores("features", performer);
}

TEST(MaskedValues, AreIgnoredByBlocksNormsAndHeads) {
  Initializer init(1);
  Block block(init, 8, std::make_shared<TokenAttention>(init, 8, 2, TokenAttentionOptions{}),
              std::make_shared<GELUNetwork>(init, 8, 12), 0, 0.5);
  const at::Tensor mask = mask_of({2, 3, 4}), x = at::randn({2, 3, 4, 8}, at::kDouble);
  expect_ignored(
      "block", block,
      [&](const at::Tensor& t, const at::Tensor& m) { return filled(block.forward(t, m), m, 0); }, x, mask);
  for (const TimePooling pooling : {TimePooling::flatten, TimePooling::mean, TimePooling::attention}) {
    TimeHead head(init, pooling, 4, 8, 2, 5, 0);
    expect_ignored(
        "head", head, [&](const at::Tensor& t, const at::Tensor& m) { return head.forward(t, m); }, x, mask);
  }
  BatchNorm norm(8);
  expect_ignored(
      "norm", norm,
      [&](const at::Tensor& t, const at::Tensor& m) {
        norm.train();
        return filled(norm.forward(t, m), m, 0);
      },
      x, mask);
}

TEST(MaskedValues, NeedAMaskOfTheTokens) {
  Initializer init(1);
  TokenAttention attention(init, 8, 2, {});
  const at::Tensor x = at::randn({1, 3, 4, 8});
  for (const at::Tensor& mask : {at::ones({1, 4, 3}, at::kBool), at::ones({1, 3, 4})})
    EXPECT_THAT(exception_of<c10::ValueError>([&] { attention.forward(x, mask); }),
                testing::StartsWith("TokenAttention: token_mask must be "));
}

}  // namespace
}  // namespace modewise::nn
