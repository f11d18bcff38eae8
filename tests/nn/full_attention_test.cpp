// Full attention as a matrix, and by random features.

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "modewise/nn/attention/attention.h"
#include "modewise/nn/initializer.h"
#include "tests/largest_difference.h"

namespace modewise::nn {
namespace {

constexpr int64_t kWidth = 16, kHeads = 2;

std::shared_ptr<TokenAttention> make(int64_t features, AttentionScope scope = AttentionScope::all,
                                     bool norm = true) {
  Initializer init(3);
  auto out = std::make_shared<TokenAttention>(
      init, kWidth, kHeads,
      TokenAttentionOptions{
          .scope = scope, .query_key_norm = norm, .rotary_modes = {0, 1}, .features = features});
  out->eval();
  return out;
}

/// The module's output computed from its values and its reported attention matrix.
at::Tensor by_matrix(TokenAttention& attention, const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  const auto parameters = attention.named_parameters();
  const at::Tensor value = at::linear(x, parameters["value_proj.weight"], parameters["value_proj.bias"])
                               .flatten(1, -2)
                               .unflatten(-1, {kHeads, kWidth / kHeads})
                               .transpose(1, 2);
  const at::Tensor mixed = at::matmul(attention.full_matrix(x, mask), value).transpose(1, 2).flatten(-2);
  return at::linear(mixed, parameters["out_proj.weight"], parameters["out_proj.bias"]).view(x.sizes());
}

class FullAttention : public testing::TestWithParam<int64_t> {};

TEST_P(FullAttention, IsItsMatrixTimesTheValues) {
  const auto attention = make(GetParam());
  const at::Tensor x = at::randn({3, 5, 7, kWidth});
  EXPECT_LT(largest_difference(attention->forward(x, {}), by_matrix(*attention, x, {})), 1e-5);
  const at::Tensor mask = at::rand({3, 5, 7}).gt(0.3);
  EXPECT_LT(largest_difference(attention->forward(x, mask), by_matrix(*attention, x, mask)), 1e-5);
}

TEST_P(FullAttention, HasRowsOfSumOneAndNoWeightOnMaskedTokens) {
  const auto attention = make(GetParam());
  const at::Tensor x = at::randn({2, 4, 3, kWidth}), mask = at::ones({2, 4, 3}, at::kBool);
  mask.select(1, 1).fill_(false);
  const at::Tensor matrix = attention->full_matrix(x, mask);
  ASSERT_EQ(matrix.sizes().vec(), (std::vector<int64_t>{2, kHeads, 12, 12}));
  EXPECT_LT((matrix.sum(-1) - 1).abs().max().item<double>(), 1e-5);
  EXPECT_LT(matrix.slice(-1, 3, 6).abs().max().item<double>(), 1e-12);
}

TEST_P(FullAttention, DoesNotSeeMaskedTokens) {
  const auto attention = make(GetParam());
  const at::Tensor x = at::randn({2, 4, 3, kWidth}), mask = at::ones({2, 4, 3}, at::kBool);
  mask.select(1, 2).fill_(false);
  at::Tensor other = x.clone();
  other.select(1, 2).fill_(100);
  const at::Tensor a = attention->forward(x, mask), b = attention->forward(other, mask);
  EXPECT_EQ(largest_difference(a.slice(1, 0, 2), b.slice(1, 0, 2)), 0);
}

INSTANTIATE_TEST_SUITE_P(SoftmaxAndFeatures, FullAttention, testing::Values(-1, 0, 24));

TEST(FullAttentionTypes, OfMoreFeaturesNearsSoftmax) {
  // Without LayerNorm, queries and keys are short: the variance of exp(|q + k|²) is small enough to show the
  // 1/√M convergence.
  const at::Tensor x = at::randn({2, 4, 3, kWidth});
  const at::Tensor exact = make(-1, AttentionScope::all, false)->full_matrix(x, {});
  const auto error = [&](int64_t features) {
    return (exact - make(features, AttentionScope::all, false)->full_matrix(x, {}))
        .abs()
        .mean()
        .item<double>();
  };
  // 64 times the features: about an eighth of the error.
  EXPECT_LT(error(16384), error(256) / 4);
}

TEST(FullAttentionTypes, OfRegularisedFeaturesIsKroneckerAttentionOfOneMode) {
  const auto made = [](bool regularised) {
    Initializer init(3);
    return std::make_shared<TokenAttention>(
        init, kWidth, kHeads, TokenAttentionOptions{.features = 24, .regularised = regularised});
  };
  const auto attention = made(true);
  const auto parameters = attention->named_parameters();
  const at::Tensor x = at::randn({2, 12, kWidth});
  ops::KroneckerAttentionOptions options;
  options.heads = kHeads;
  options.kernel = "linear";
  options.features = 24;
  options.feature_map = "regularised";
  options.feature_seed = 16;  // the site of the first dropout
  const ops::KroneckerAttentionWeights weights = {
      parameters["query_proj.weight"], parameters["query_proj.bias"], parameters["key_proj.weight"],
      parameters["key_proj.bias"],     parameters["q_norm.weight"],   parameters["q_norm.bias"],
      parameters["k_norm.weight"],     parameters["k_norm.bias"]};
  const at::Tensor wanted = ops::mode_attention(x, weights, options).front();
  EXPECT_LT(largest_difference(attention->full_matrix(x, {}), wanted), 1e-6);
  EXPECT_GT(largest_difference(made(false)->full_matrix(x, {}), wanted), 1e-3);
}

TEST(FullAttentionTypes, TakeKeysAndValuesFromElsewhere) {
  // Plain softmax over the valid cells of a memory of another shape, head by head.
  Initializer init(3);
  TokenAttention attention(init, kWidth, kHeads, {.query_key_norm = false});
  attention.to(at::kDouble);
  const auto parameters = attention.named_parameters();
  const at::Tensor x = at::randn({2, 7, kWidth}, at::kDouble),
                   cells = at::randn({2, 3, 5, kWidth}, at::kDouble);
  const at::Tensor kept = at::rand({2, 3, 5}).gt(0.4);
  const auto heads = [&](const std::string& name, const at::Tensor& from) {
    return at::linear(from, parameters[name + ".weight"], parameters[name + ".bias"])
        .flatten(1, -2)
        .unflatten(-1, {kHeads, kWidth / kHeads})
        .transpose(1, 2);
  };
  at::Tensor logits = at::matmul(heads("query_proj", x), heads("key_proj", cells).transpose(-1, -2)) /
                      std::sqrt(static_cast<double>(kWidth / kHeads));
  logits = logits.masked_fill(kept.flatten(1).logical_not().unsqueeze(1).unsqueeze(1),
                              -std::numeric_limits<double>::infinity());
  const at::Tensor mixed =
      at::matmul(at::softmax(logits, -1), heads("value_proj", cells)).transpose(1, 2).flatten(-2);
  const at::Tensor wanted = at::linear(mixed, parameters["out_proj.weight"], parameters["out_proj.bias"]);
  EXPECT_LT(largest_difference(attention.attend(x, {cells, kept}), wanted), 1e-12);
}

TEST_P(FullAttention, OfItsOwnTokensIsTheSameAsAMemory) {
  Initializer init(3);
  TokenAttention attention(init, kWidth, kHeads, {.features = GetParam()});
  const at::Tensor x = at::randn({2, 5, 3, kWidth}), mask = at::rand({2, 5, 3}).gt(0.3);
  EXPECT_TRUE(at::equal(attention.attend(x, {x, mask}), attention.forward(x, mask)));
  // The order of keys does not matter: a memory has no positions.
  EXPECT_LT(largest_difference(attention.attend(x, {x.flip(1), mask.flip(1)}), attention.forward(x, mask)),
            1e-5);
}

TEST(FullAttentionTypes, RefuseAMemoryThatTheyCannotAttend) {
  const at::Tensor x = at::randn({1, 2, 3, kWidth});
  Initializer init(3);
  for (const auto& attention : {make(-1), make(-1, AttentionScope::temporal)})
    EXPECT_THAT(
        [&] {
          attention->attend(x, {x, {}});
        },
        testing::ThrowsMessage<c10::Error>(testing::HasSubstr("no rotary embedding")));
  ops::KroneckerAttentionOptions options;
  options.heads = kHeads;
  KroneckerAttention kronecker(init, kWidth, 2, true, 0, options);
  EXPECT_THAT(
      [&] {
        kronecker.attend(x, {x, {}});
      },
      testing::ThrowsMessage<c10::Error>(testing::HasSubstr("no cross-attention")));
}

TEST(FullAttentionTypes, IsNoMatrixForOtherReaches) {
  EXPECT_FALSE(make(-1, AttentionScope::spatial)->full_matrix(at::randn({1, 2, 3, kWidth}), {}).defined());
}

}  // namespace
}  // namespace modewise::nn
