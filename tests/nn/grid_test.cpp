// Grid patches and pooling against loops over cells; batch normalisation of few rows.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "modewise/nn/attention/pooling_attention.h"
#include "modewise/nn/embedding/grid_patches.h"
#include "modewise/nn/embedding/patch_embedding.h"
#include "modewise/nn/layers/batch_norm.h"
#include "tests/error_of.h"

namespace modewise::nn {
namespace {

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

TEST(GridPatches, HoldTheirPlacesInOrderAndZerosBeyondTheEnd) {
  const at::Tensor x = at::arange(1, 2 * 5 * 4 * 3 + 1, at::kFloat).view({2, 5, 4, 3});
  const at::Tensor cut = cut_grid(x, {2, 3});
  ASSERT_EQ(cut.sizes().vec(), (std::vector<int64_t>{2, 3, 2, 18}));
  EXPECT_EQ(grid_patch_counts({5, 4}, {2, 3}), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(grid_patch_counts({6, 1}, {2, 3}), (std::vector<int64_t>{3, 1}));
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 6; ++j) {
      const at::Tensor cell = cut[1][i / 2][j / 3].view({2, 3, 3})[i % 2][j % 3];
      EXPECT_TRUE(cell.equal(i < 5 && j < 4 ? x[1][i][j] : at::zeros({3}))) << i << " " << j;
    }
  const at::Tensor even = at::randn({2, 4, 6, 3});
  EXPECT_TRUE(join_patches(cut_grid(even, {2, 2}), 2).equal(even));
}

TEST(GridPatches, AreValidWhereAnyCellIs) {
  Initializer init(1);
  const GridPatches patches(init, 1, {2, 2}, 3, PatchActivation::none);
  at::Tensor valid = at::zeros({1, 3, 4}, at::kBool);
  valid[0][2][1] = true;
  const at::Tensor x = at::randn({1, 3, 4, 1});
  const PatchTokens tokens = patches.forward(x, valid, at::kFloat);
  EXPECT_TRUE(tokens.mask->flatten().equal(at::tensor({0, 0, 1, 0}).to(at::kBool)));
  EXPECT_FALSE(patches.forward(x, {}, at::kFloat).mask.has_value());
  EXPECT_EQ(patches.forward(x, {}, at::kDouble).tokens.scalar_type(), at::kDouble);
  Initializer again(1);
  const GridPatches relu(again, 1, {2, 2}, 3, PatchActivation::relu);
  EXPECT_TRUE(relu.forward(x, {}, at::kFloat).tokens.equal(tokens.tokens.clamp_min(0)));
}

TEST(GridStem, KeepsInvalidPlacesFromTheirNeighbours) {
  Initializer init(1);
  GridStem stem(init, 2, 1, 4, 4);
  stem.eval();
  at::Tensor valid = at::ones({1, 8, 8}, at::kBool);
  valid[0].narrow(1, 4, 4).fill_(false);
  const at::Tensor x = at::randn({1, 8, 8, 1}) * valid.unsqueeze(-1);
  const PatchTokens masked = stem.forward(x, valid, at::kFloat);
  EXPECT_EQ(masked.tokens.sizes().vec(), (std::vector<int64_t>{1, 2, 2, 4}));
  EXPECT_TRUE(masked.mask->flatten().equal(at::tensor({1, 0, 1, 0}).to(at::kBool)));
  EXPECT_EQ(largest(masked.tokens.select(2, 1)), 0);
  EXPECT_FALSE(stem.forward(x, {}, at::kFloat).mask.has_value());
}

TEST(GridPooling, WeighsThreePlacesAlongEachMode) {
  Initializer init(1);
  for (const int64_t stride : {1, 2}) {
    const GridPooling pooling(init, 4, 2, stride);
    const at::Tensor x = at::randn({2, 5, 4, 4});
    const at::Tensor weight = pooling.named_parameters()["weight"];
    at::Tensor sums = at::zeros({2, (5 + stride - 1) / stride, (4 + stride - 1) / stride, 4});
    for (int64_t i = 0; i < sums.size(1); ++i)
      for (int64_t j = 0; j < sums.size(2); ++j)
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t row = i * stride + tap / 3 - 1, column = j * stride + tap % 3 - 1;
          if (row >= 0 && row < 5 && column >= 0 && column < 4)
            sums.select(1, i).select(1, j) += x.select(1, row).select(1, column) * weight[tap];
        }
    const at::Tensor wanted = at::layer_norm(sums, {4});
    EXPECT_LT(largest(pooling.forward(x) - wanted), 1e-5) << stride;
    const at::Tensor mask = x.select(-1, 0).gt(0), pooled = pooling.pooled_mask(mask);
    ASSERT_EQ(pooled.sizes(), sums.select(-1, 0).sizes());
    for (int64_t i = 0; i < pooled.size(1); ++i)
      for (int64_t j = 0; j < pooled.size(2); ++j)
        EXPECT_TRUE(pooled.select(1, i).select(1, j).equal(mask.select(1, i * stride).select(1, j * stride)));
  }
}

TEST(PatchCounts, CoverTheWindowWithTheFewestPatches) {
  struct Case {
    int64_t lookback, length, stride, padding, count;
  };
  for (const Case& one : {Case{16, 4, 4, 0, 4},
                          {17, 4, 4, 3, 5},
                          {19, 4, 4, 1, 5},
                          {3, 4, 2, 1, 1},
                          {4, 4, 2, 0, 1},
                          {5, 4, 2, 1, 2},
                          {6, 4, 2, 0, 2},
                          {10, 1, 3, 0, 4}}) {
    EXPECT_EQ(patch_padding(one.lookback, one.length, one.stride), one.padding) << one.lookback;
    EXPECT_EQ(patch_count(one.lookback, one.length, one.stride), one.count) << one.lookback;
  }
  EXPECT_EQ(patch_activation("linear"), PatchActivation::none);
  EXPECT_EQ(patch_activation("relu"), PatchActivation::relu);
  EXPECT_EQ(patch_activation("relu_norm"), PatchActivation::relu_norm);
}

TEST(BatchNorm, CountsValidRowsAlone) {
  BatchNorm norm(2, 0.25, 0.5);
  const at::Tensor x = at::tensor({1.0F, 10.0F, 3.0F, 30.0F, 9.0F, 90.0F}).view({3, 2});
  const at::Tensor mask = at::tensor({1, 1, 0}).to(at::kBool);
  // Values 1 and 3: mean 2, variance 1, unbiased 2; values 10 and 30: 20, 100, 200.
  const at::Tensor out = norm.forward(x, mask);
  EXPECT_NEAR(out[0][0].item<double>(), -1 / std::sqrt(1.25), 1e-6);
  EXPECT_NEAR(out[2][0].item<double>(), 7 / std::sqrt(1.25), 1e-5);
  EXPECT_NEAR(out[1][1].item<double>(), 10 / std::sqrt(100.25), 1e-6);
  const auto buffers = norm.named_buffers();
  EXPECT_TRUE(buffers["running_mean"].equal(at::tensor({1.0F, 10.0F})));
  EXPECT_TRUE(buffers["running_var"].equal(at::tensor({1.5F, 100.5F})));
  norm.eval();
  EXPECT_NEAR(norm.forward(x)[1][0].item<double>(), 2 / std::sqrt(1.75), 1e-6);
  norm.train();
  // Without any valid row, all rows count; a single row has variance 0.
  BatchNorm other(2);
  EXPECT_TRUE(
      other.forward(x, at::zeros({3}, at::kBool)).equal(BatchNorm(2).forward(x, at::ones({3}, at::kBool))));
  EXPECT_EQ(largest(BatchNorm(2).forward(x.narrow(0, 0, 1), at::ones({1}, at::kBool))), 0);
}

TEST(BatchNorm, OneValuePerChannelHasNoVariance) {
  BatchNorm norm(2);
  const at::Tensor x = at::tensor({1.0F, 10.0F, 3.0F, 30.0F}).view({2, 1, 2});
  EXPECT_THAT(
      exception_of<BatchTooSmall>([&] { norm.forward(x.narrow(0, 0, 1)); }),
      testing::Eq(
          "BatchNorm: expected more than 1 value per channel in training, got [1, 1, 2]: the variance "
          "of one value is 0"));
  norm.forward(x, at::tensor({1, 0}).to(at::kBool).view({2, 1}));
  EXPECT_TRUE(norm.named_buffers()["running_mean"].equal(at::zeros({2})));
  EXPECT_TRUE(norm.named_buffers()["running_var"].equal(at::ones({2})));
  norm.eval();
  EXPECT_NO_THROW(norm.forward(x.narrow(0, 0, 1)));
}

}  // namespace
}  // namespace modewise::nn
