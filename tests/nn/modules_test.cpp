// Modules against libtorch's operators or explicit formulas.

#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/random.h"
#include "modewise/nn/embedding/patch_embedding.h"
#include "modewise/nn/embedding/positions.h"
#include "modewise/nn/embedding/series_linear.h"
#include "modewise/nn/embedding/time_head.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/block.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/nn/layers/quantiles.h"
#include "tests/error_of.h"

namespace modewise::nn {
namespace {

double difference(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

at::Tensor parameter(const torch::nn::Module& module, const std::string& name) {
  return *module.named_parameters().find(name);
}

TEST(Initializer, DrawsByParameterNumberFromTheWeightStream) {
  Initializer init(9);
  init.uniform({3}, 1.0);
  const at::Tensor second = init.uniform({2, 5}, 0.5);
  const RandomStream stream{9, RandomSite{2}, 1};
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_FLOAT_EQ(second.flatten()[i].item<float>(),
                    static_cast<float>(stream.uniform(static_cast<uint64_t>(i)) - 0.5));
  const at::Tensor normal = init.normal({20000}, 0.02);
  EXPECT_NEAR(normal.mean().item<double>(), 0, 1e-3);
  EXPECT_NEAR(normal.std().item<double>(), 0.02, 1e-3);
  EXPECT_EQ(init.dropout_site(), 16u);
  EXPECT_EQ(init.dropout_site(), 17u);
}

TEST(Initializer, WithoutValuesGivesTensorsOfItsType) {
  Initializer init = Initializer::without_values(at::kBFloat16);
  for (const at::Tensor& unset : {init.uniform({3, 5}, 0.5), init.normal({3, 5}, 0.5)}) {
    EXPECT_EQ(unset.scalar_type(), at::kBFloat16);
    EXPECT_EQ(unset.sizes().vec(), (std::vector<int64_t>{3, 5}));
  }
}

TEST(Linear, HasTorchsDefaultDistribution) {
  Initializer init(1);
  const Linear linear(init, 64, 500);
  Initializer again(1);  // uniform within 1/√64 either way, the weight first
  EXPECT_TRUE(at::equal(linear.weight(), again.uniform({500, 64}, 1.0 / 8)));
  EXPECT_TRUE(at::equal(linear.bias(), again.uniform({500}, 1.0 / 8)));
  const at::Tensor x = at::randn({2, 3, 64});
  // Row blocks are multiplied separately, so the order of sums may differ.
  EXPECT_LT(difference(linear.forward(x), at::linear(x, linear.weight(), linear.bias())), 1e-6);
  EXPECT_EQ(linear.forward(x.to(at::kBFloat16)).scalar_type(), at::kBFloat16);
}

TEST(PatchEmbedding, IsAConvolutionAlongTime) {
  for (const auto& [length, stride, lookback] : {std::tuple{4, 4, 24}, {5, 3, 23}, {7, 2, 7}}) {
    Initializer init(1);
    PatchEmbedding embedding(init, length, stride, 6, PatchActivation::relu_norm, false);
    const at::Tensor x = at::randn({2, 3, lookback});
    const at::Tensor convolved = at::conv1d(x.view({6, 1, lookback}), parameter(embedding, "0.weight"),
                                            parameter(embedding, "0.bias"), stride);
    const at::Tensor wanted =
        at::layer_norm(convolved.transpose(1, 2).relu(), {6}, parameter(embedding, "2.weight"),
                       parameter(embedding, "2.bias"));
    const PatchTokens out = embedding.forward(x, {}, at::kFloat);
    EXPECT_FALSE(out.mask.has_value());
    EXPECT_EQ(out.tokens.size(2), patch_count(lookback, length, stride));
    EXPECT_LT(difference(out.tokens, wanted.view({2, 3, -1, 6})), 1e-5);
  }
}

TEST(PatchEmbedding, PadsTheEndSoThatTheNewestRowsAreSeen) {
  EXPECT_EQ(patch_padding(96, 16, 8), 0);
  EXPECT_EQ(patch_count(96, 16, 8), 11);
  EXPECT_EQ(patch_padding(97, 16, 8), 7);
  EXPECT_EQ(patch_count(97, 16, 8), 12);
  Initializer init(1);
  PatchEmbedding embedding(init, 4, 4, 3, PatchActivation::none, false);
  const at::Tensor x = at::randn({1, 1, 6});
  const at::Tensor last = x.narrow(-1, 5, 1);
  const at::Tensor padded = at::cat({x, last, last}, -1);
  EXPECT_EQ(difference(embedding.forward(x, {}, at::kFloat).tokens,
                       embedding.forward(padded, {}, at::kFloat).tokens),
            0);
}

TEST(PatchEmbedding, FlagsTellZeroFromMissingAndMakeTheTokenMask) {
  Initializer init(1);
  PatchEmbedding embedding(init, 2, 2, 3, PatchActivation::none, true);
  const at::Tensor x = at::zeros({1, 1, 6});
  at::Tensor observed = at::ones({1, 1, 6}, at::kBool);
  const at::Tensor complete = embedding.forward(x, observed, at::kFloat).tokens;
  EXPECT_EQ(difference(complete, embedding.forward(x, {}, at::kFloat).tokens), 0);
  observed[0][0][1] = false;
  observed[0][0][4] = false;
  observed[0][0][5] = false;
  const PatchTokens out = embedding.forward(x, observed, at::kFloat);
  EXPECT_GT(difference(out.tokens, complete), 1e-3);
  ASSERT_TRUE(out.mask.has_value());
  EXPECT_TRUE(out.mask->flatten().equal(at::tensor({1, 1, 0}, at::kLong).to(at::kBool)));
}

TEST(SwiGLU, IsSiluOfGateTimesUp) {
  Initializer init(1);
  SwiGLU network(init, 8, 12);
  const at::Tensor x = at::randn({5, 8});
  const at::Tensor gate = at::silu(at::linear(x, parameter(network, "w1.weight")));
  const at::Tensor wanted =
      at::linear(gate * at::linear(x, parameter(network, "w3.weight")), parameter(network, "w2.weight"));
  EXPECT_LT(difference(network.forward(x), wanted), 1e-6);
}

TEST(BatchNorm, AgreesWithTorchInTrainingAndEvaluation) {
  BatchNorm norm(7);
  norm.to(at::kDouble);
  at::Tensor mean = at::zeros({7}, at::kDouble), var = at::ones({7}, at::kDouble);
  const at::Tensor weight = at::ones({7}, at::kDouble), bias = at::zeros({7}, at::kDouble);
  for (int step = 0; step < 3; ++step) {
    const at::Tensor x = at::randn({4, 5, 7}, at::kDouble) * 2 + 1;
    const at::Tensor wanted =
        at::batch_norm(x.view({20, 7}), weight, bias, mean, var, true, 0.1, 1e-5, false);
    EXPECT_LT(difference(norm.forward(x), wanted.view({4, 5, 7})), 1e-12);
  }
  norm.eval();
  const at::Tensor x = at::randn({4, 5, 7}, at::kDouble);
  const at::Tensor wanted = at::batch_norm(x.view({20, 7}), weight, bias, mean, var, false, 0.1, 1e-5, false);
  EXPECT_LT(difference(norm.forward(x), wanted.view({4, 5, 7})), 1e-12);
  ASSERT_EQ(norm.named_buffers().size(), 2u);
}

TEST(SinCosEncoding, ItsTableGoesWithTheModuleAndIsInNoState) {
  SinCosEncoding code({3, 5}, {1}, 8);
  EXPECT_EQ(code.named_parameters().size() + code.named_buffers().size(), 0u);
  const at::Tensor tokens = at::zeros({2, 3, 5, 8}), before = code.add_to(tokens);
  code.to(at::kBFloat16);  // casting the weights does not cast the table
  EXPECT_TRUE(at::equal(code.add_to(tokens), before));
  code.to(at::kMeta);
  EXPECT_TRUE(code.add_to(tokens.to(at::kMeta)).is_meta());
}

TEST(Rotary, TurnsPairsByPlaceTimesFrequency) {
  const at::Tensor x = at::randn({2, 3, 5, 8}, at::kDouble);  // two heads of width 4
  const at::Tensor out = rotate_heads(x, 2, {1}, 100.0);
  for (int64_t place : {0, 1, 4})
    for (int64_t head : {0, 1})
      for (int64_t f : {0, 1}) {
        const double angle = static_cast<double>(place) * std::pow(100.0, -static_cast<double>(f) / 2);
        const double a = x[1][2][place][head * 4 + f].item<double>(),
                     b = x[1][2][place][head * 4 + 2 + f].item<double>();
        EXPECT_NEAR(out[1][2][place][head * 4 + f].item<double>(), a * std::cos(angle) - b * std::sin(angle),
                    1e-14);
        EXPECT_NEAR(out[1][2][place][head * 4 + 2 + f].item<double>(),
                    b * std::cos(angle) + a * std::sin(angle), 1e-14);
      }
}

TEST(Rotary, ScoresOfTwoModesDependOnDifferencesOfPlaces) {
  const at::Tensor q = at::randn({8}, at::kDouble), k = at::randn({8}, at::kDouble);
  const auto rotated = [](const at::Tensor& v) {
    return rotate_heads(v.expand({1, 6, 7, 8}), 1, {0, 1}, 10000.0)[0];
  };
  const at::Tensor a = rotated(q), b = rotated(k);
  EXPECT_NEAR(a[1][2].dot(b[3][6]).item<double>(), a[2][1].dot(b[4][5]).item<double>(), 1e-12);
  EXPECT_GT(std::abs(a[1][2].dot(b[3][6]).item<double>() - a[1][2].dot(b[3][5]).item<double>()), 1e-4);
}

TEST(SinCosPositions, GiveEachModeItsShareOfTheWidth) {
  const at::Tensor line = sin_cos_positions({5}, 6);
  for (int64_t f = 0; f < 3; ++f) {
    const double angle = 4 * std::pow(10000.0, -static_cast<double>(f) / 3);
    EXPECT_NEAR(line[4][f].item<double>(), std::sin(angle), 1e-6);
    EXPECT_NEAR(line[4][3 + f].item<double>(), std::cos(angle), 1e-6);
  }
  const at::Tensor volume = sin_cos_positions({2, 3, 4}, 14);
  EXPECT_EQ(volume.sizes().vec(), (std::vector<int64_t>{2, 3, 4, 14}));
  EXPECT_EQ(difference(volume[0][2][1].narrow(0, 0, 4), volume[0][0][3].narrow(0, 0, 4)),
            0);  // same position of mode 0
  EXPECT_EQ(difference(volume[0][2][1].narrow(0, 8, 4), volume[1][0][1].narrow(0, 8, 4)),
            0);                                                       // same position of mode 2
  EXPECT_EQ(volume.narrow(-1, 12, 2).abs().max().item<double>(), 0);  // left over
  // Every position has a distinct encoding.
  const at::Tensor rows = volume.view({24, 14});
  for (int64_t i = 0; i < 24; ++i)
    for (int64_t j = 0; j < i; ++j) EXPECT_GT(difference(rows[i], rows[j]), 1e-3);
}

TEST(ModeEmbedding, IsAddedAlongItsModesAlone) {
  Initializer init(1);
  const ModeEmbedding code(init, {2, 3, 4}, {0, 2}, 5, 0.02);
  const at::Tensor added = code.add_to(at::zeros({6, 2, 3, 4, 5}));
  EXPECT_EQ(difference(added[0].select(1, 0), added[5].select(1, 2)), 0);
  EXPECT_EQ(difference(added[0].select(1, 0).flatten(), parameter(code, "weight")), 0);
}

TEST(SinCosEncoding, DoesNotDependOnTheOrderOfItsModes) {
  const at::Tensor zeros = at::zeros({1, 3, 5, 16});
  EXPECT_TRUE(SinCosEncoding({3, 5}, {1, 0}, 16)
                  .add_to(zeros)
                  .equal(SinCosEncoding({3, 5}, {0, 1}, 16).add_to(zeros)));
}

TEST(PositionEncodings, TakeTokensOfTheirSizesAlone) {
  Initializer init(0);
  const ModeEmbedding code(init, {3, 5, 1}, {0, 2}, 8, 0.02);
  const SinCosEncoding fixed({3, 5}, {1}, 8);
  EXPECT_EQ(code.add_to(at::zeros({2, 3, 7, 1, 8})).sizes(), at::IntArrayRef({2, 3, 7, 1, 8}));
  const auto refusal = [&](at::IntArrayRef sizes) {
    return exception_of<c10::ValueError>([&] { code.add_to(at::zeros(sizes)); });
  };
  const std::string wanted = "ModeEmbedding: tokens must be [B, 3, N_2, 1, 8], got ";
  EXPECT_EQ(refusal({2, 1, 5, 1, 8}), wanted + "[2, 1, 5, 1, 8]");  // would broadcast
  EXPECT_EQ(refusal({2, 3, 5, 4, 8}), wanted + "[2, 3, 5, 4, 8]");
  EXPECT_EQ(refusal({2, 3, 5, 1, 1}), wanted + "[2, 3, 5, 1, 1]");
  EXPECT_EQ(refusal({3, 5, 1, 8}), wanted + "[3, 5, 1, 8]");
  EXPECT_EQ(exception_of<c10::ValueError>([&] {
              fixed.add_to(at::zeros({2, 3, 1, 8}));
            }),
            "SinCosEncoding: tokens must be [B, N_1, 5, 8], got [2, 3, 1, 8]");
}

TEST(SinCosEncoding, IsAddedAlongItsModesAlone) {
  const SinCosEncoding code({2, 3, 4}, {0, 2}, 8);
  const at::Tensor added = code.add_to(at::ones({6, 2, 3, 4, 8}));
  for (int64_t place = 0; place < 3; ++place)
    EXPECT_EQ(difference(added[5].select(1, place), sin_cos_positions({2, 4}, 8) + 1), 0);
}

TEST(SeriesLinear, HasOneMapASeries) {
  Initializer init(1);
  const SeriesLinear linear(init, 6, 5, 4);
  const at::Tensor x = at::randn({7, 2, 3, 5});
  const at::Tensor out = linear.forward(x);
  const at::Tensor weight = parameter(linear, "weight"), bias = parameter(linear, "bias");
  for (int64_t n = 0; n < 6; ++n)
    EXPECT_LT(difference(out.flatten(1, 2).select(1, n),
                         at::linear(x.flatten(1, 2).select(1, n), weight[n], bias[n])),
              1e-6);
}

TEST(Quantiles, AscendFromTheMiddleBySoftplus) {
  const at::Tensor raw = at::randn({3, 5}, at::kDouble);
  const QuantileParts parts = split_quantiles(raw);
  EXPECT_EQ(difference(parts.middle, raw.select(1, 2)), 0);
  const auto softplus = [&](int64_t i) { return raw.select(1, i).exp().log1p(); };
  EXPECT_LT(difference(parts.differences.select(1, 0), -softplus(0) - softplus(1)), 1e-12);
  EXPECT_LT(difference(parts.differences.select(1, 1), -softplus(1)), 1e-12);
  EXPECT_EQ(parts.differences.select(1, 2).abs().max().item<double>(), 0);
  EXPECT_LT(difference(parts.differences.select(1, 4), softplus(3) + softplus(4)), 1e-12);
}

TEST(TimeHead, MeanCountsValidTokensAlone) {
  Initializer init(1);
  const TimeHead head(init, TimePooling::mean, 4, 6, 2, 3, 0.0);
  at::Tensor tokens = at::randn({2, 3, 4, 6});
  at::Tensor mask = at::ones({2, 3, 4}, at::kBool);
  mask[0][1][2] = false;
  const at::Tensor out = head.forward(tokens, mask);
  tokens[0][1][2].copy_(at::arange(6) * 100);  // the norm would remove a constant
  EXPECT_EQ(difference(head.forward(tokens, mask), out), 0);
  EXPECT_GT(difference(head.forward(tokens, {}), out), 1e-3);
}

TEST(TimeHead, WithoutANormIsOneLinearMapOfTheMean) {
  Initializer init(1);
  TimeHead head(init, TimePooling::mean, 4, 6, 2, 3, 0.0, false);
  head.to(at::kDouble);
  EXPECT_EQ(head.parameters().size(), 2);
  const at::Tensor tokens = at::randn({2, 3, 4, 6}, at::kDouble);
  const at::Tensor wanted =
      at::linear(tokens.mean(2), parameter(head, "2.weight"), parameter(head, "2.bias"));
  EXPECT_LT(difference(head.forward(tokens, {}), wanted), 1e-14);
}

TEST(TimeHead, AttentionWeighsValidTokensHeadByHead) {
  Initializer init(1);
  TimeHead head(init, TimePooling::attention, 4, 6, 2, 3, 0.0);
  head.to(at::kDouble);
  const at::Tensor tokens = at::randn({2, 3, 4, 6}, at::kDouble);
  at::Tensor mask = at::ones({2, 3, 4}, at::kBool);
  mask[0][1][2] = false;
  const at::Tensor normal =
      at::layer_norm(tokens, {6}, parameter(head, "0.weight"), parameter(head, "0.bias"));
  const at::Tensor shares =
      at::linear(normal, parameter(head, "score.weight")).exp() * mask.unsqueeze(-1).to(at::kDouble);
  const at::Tensor weights = shares / shares.sum(-2, true);
  const at::Tensor pooled = (normal.view({2, 3, 4, 2, 3}) * weights.unsqueeze(-1)).sum(2).flatten(-2);
  const at::Tensor wanted = at::linear(pooled, parameter(head, "2.weight"), parameter(head, "2.bias"));
  EXPECT_LT(difference(head.forward(tokens, mask), wanted), 1e-14);
}

TEST(Dropout, KeepsItsShareAndFollowsItsKey) {
  Initializer init(1);
  Dropout dropout(init, 0.3);
  const at::Tensor x = at::ones({100, 1000});
  dropout.set_step(4, 2);
  const at::Tensor out = dropout.forward(x);
  EXPECT_NEAR((out == 0).to(at::kDouble).mean().item<double>(), 0.3, 0.01);
  EXPECT_NEAR(out.max().item<double>(), 1 / 0.7, 1e-6);
  EXPECT_EQ(difference(dropout.add_to(x, x), out + x), 0);
  dropout.set_step(4, 3);
  EXPECT_GT(difference(dropout.forward(x), out), 1);
  dropout.eval();
  EXPECT_EQ(difference(dropout.forward(x), x), 0);
}

TEST(Block, HasTheNamesOfTheReleasedState) {
  Initializer init(1);
  ops::KroneckerAttentionOptions options;
  options.heads = 2;
  Block block(init, 8, std::make_shared<KroneckerAttention>(init, 8, 2, true, 0.0, options),
              std::make_shared<SwiGLU>(init, 8, 12), 0.1, 0.0);
  std::vector<std::string> names = block.named_parameters().keys();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{
                       "attention.k_norm.bias", "attention.k_norm.weight", "attention.key_proj.bias",
                       "attention.key_proj.weight", "attention.out_proj.bias", "attention.out_proj.weight",
                       "attention.q_norm.bias", "attention.q_norm.weight", "attention.query_proj.bias",
                       "attention.query_proj.weight", "attention.value_proj.bias",
                       "attention.value_proj.weight", "feedforward.w1.weight", "feedforward.w2.weight",
                       "feedforward.w3.weight", "norm1.bias", "norm1.weight", "norm2.bias", "norm2.weight"}));
  EXPECT_EQ(parameter(block, "attention.query_proj.weight").sizes().vec(), (std::vector<int64_t>{16, 8}));
}

}  // namespace
}  // namespace modewise::nn
