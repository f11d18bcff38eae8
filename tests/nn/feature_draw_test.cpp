// Random features: drawn from the model's seed, saved in its state, and redrawn in training.

#include "modewise/nn/attention/feature_draw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <set>

#include "modewise/core/random.h"
#include "modewise/nn/attention/attention.h"

namespace modewise::nn {
namespace {

constexpr int64_t kDrawWidth = 8, kDrawHeads = 2;

std::shared_ptr<KroneckerAttention> kronecker(uint64_t seed, FeatureDrawOptions draw) {
  Initializer init(seed);
  ops::KroneckerAttentionOptions options;
  options.heads = kDrawHeads;
  options.kernel = "linear";
  options.features = 16;
  return std::make_shared<KroneckerAttention>(init, kDrawWidth, 2, true, 0.0, options, draw);
}

at::Tensor numbers(const torch::nn::Module& module) {
  return module.named_buffers()["feature_draw.numbers"];
}

/// Copies the weights of `from`, but not its random-feature draw.
void take_parameters(torch::nn::Module& into, const torch::nn::Module& from) {
  const at::NoGradGuard no_grad;
  for (auto& item : into.named_parameters()) item.value().copy_(from.named_parameters()[item.key()]);
}

TEST(FeatureDraw, IsAnotherForEachSeedAndLayerAndChangesNoWeight) {
  std::set<int64_t> keys;
  for (const uint64_t seed : {1, 2, 3}) {
    Initializer init(seed);
    for (const uint32_t site : {16U, 17U, 18U}) {
      FeatureDraw draw(init, site, 0);
      // The first 24 bits of word 0 of the stream {seed, features, step = site}.
      EXPECT_EQ(draw.seed(), (RandomStream{seed, RandomSite::features, site}.word(0) >> 8));
      keys.insert(draw.seed());
    }
  }
  EXPECT_EQ(keys.size(), 9);
  const auto fixed = kronecker(5, {}), drawn = kronecker(5, {.by_seed = true});
  for (const auto& item : fixed->named_parameters())
    EXPECT_TRUE(at::equal(item.value(), drawn->named_parameters()[item.key()])) << item.key();
  EXPECT_TRUE(fixed->named_buffers().is_empty());
  EXPECT_EQ(numbers(*drawn).scalar_type(), at::kLong);
}

TEST(FeatureDraw, NamesTheFeaturesOfTheOperator) {
  const auto fixed = kronecker(5, {}), drawn = kronecker(6, {.by_seed = true});
  take_parameters(*drawn, *fixed);
  const at::Tensor x = at::randn({2, 3, 5, kDrawWidth});
  EXPECT_FALSE(at::equal(fixed->forward(x, {}), drawn->forward(x, {})));
  // Features without a draw are keyed by the dropout site, 16.
  numbers(*drawn).copy_(at::tensor({int64_t{16}, int64_t{0}}));
  EXPECT_TRUE(at::equal(fixed->forward(x, {}), drawn->forward(x, {})));
  EXPECT_TRUE(at::equal(fixed->factors(x, {})[1], drawn->factors(x, {})[1]));
}

TEST(FeatureDraw, OfAttentionBetweenAllTokensIsKeptToo) {
  Initializer first(1), second(2);
  TokenAttention one(first, kDrawWidth, kDrawHeads, {.features = 16, .draw = {.by_seed = true}});
  TokenAttention other(second, kDrawWidth, kDrawHeads, {.features = 16, .draw = {.by_seed = true}});
  take_parameters(other, one);
  const at::Tensor x = at::randn({2, 7, kDrawWidth});
  EXPECT_FALSE(at::equal(one.forward(x, {}), other.forward(x, {})));
  numbers(other).copy_(numbers(one));
  EXPECT_TRUE(at::equal(one.forward(x, {}), other.forward(x, {})));
  EXPECT_TRUE(at::equal(one.full_matrix(x, {}), other.full_matrix(x, {})));
}

TEST(FeatureDraw, IsRenewedEverySoManyStepsOfTraining) {
  const auto attention = kronecker(1, {.by_seed = true, .redraw_every = 3});
  const int64_t key = numbers(*attention)[0].item<int64_t>();
  attention->train();
  std::vector<int64_t> draws;
  for (uint64_t step = 0; step < 8; ++step) {
    set_dropout_step(*attention, 99, step);
    draws.push_back(numbers(*attention)[1].item<int64_t>());
    EXPECT_EQ(numbers(*attention)[0].item<int64_t>(), key);
  }
  EXPECT_EQ(draws, (std::vector<int64_t>{0, 0, 0, 1, 1, 1, 2, 2}));
  const at::Tensor x = at::randn({2, 3, 5, kDrawWidth}), before = attention->forward(x, {});
  set_dropout_step(*attention, 98, 8);  // the dropout seed does not matter
  EXPECT_TRUE(at::equal(attention->forward(x, {}), before));
  attention->eval();
  set_dropout_step(*attention, 99, 9);
  EXPECT_TRUE(at::equal(attention->forward(x, {}), before));
  attention->train();
  set_dropout_step(*attention, 99, 9);
  EXPECT_FALSE(at::equal(attention->forward(x, {}), before));
  // A model started at that step has the same features: a resumed run continues with them.
  const auto resumed = kronecker(1, {.by_seed = true, .redraw_every = 3});
  set_dropout_step(*resumed, 99, 9);
  EXPECT_TRUE(at::equal(resumed->forward(x, {}), attention->forward(x, {})));
}

TEST(FeatureDraw, KeepsItsNumbersWhenAModuleChangesItsType) {
  const auto attention = kronecker(1, {.by_seed = true, .redraw_every = 1});
  set_dropout_step(*attention, 1, (1 << 24) - 1);
  Initializer init(1);
  FeatureDraw same(init, 16, 0);
  const int64_t wanted = same.seed() | int64_t{(1 << 24) - 1} << 24;
  attention->to(at::kFloat);
  const at::Tensor kept = numbers(*attention);
  EXPECT_EQ(kept[0].item<int64_t>() | kept[1].item<int64_t>() << 24, wanted);
}

}  // namespace
}  // namespace modewise::nn
