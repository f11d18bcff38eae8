#include "modewise/nn/embedding/window_normalization.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

namespace modewise::nn {
namespace {

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

TEST(WindowNormalization, HasZeroMeanAndUnitStdOverObservedCells) {
  const WindowNormalization window({3}, {});
  const at::Tensor observed = at::rand({4, 3, 50}) > 0.3;
  const at::Tensor past = (at::randn({4, 3, 50}) * 3 + 7) * observed.to(at::kFloat);
  const NormalizedWindow out = window.normalize(past, observed, {});
  for (int64_t b = 0; b < 4; ++b)
    for (int64_t n = 0; n < 3; ++n) {
      const at::Tensor cells = past[b][n].masked_select(observed[b][n]), normal = out.values[b][n];
      EXPECT_NEAR(out.centre[b][n].item<double>(), cells.mean().item<double>(), 1e-5);
      EXPECT_NEAR(normal.masked_select(observed[b][n]).mean().item<double>(), 0, 1e-6);
      EXPECT_NEAR(normal.masked_select(observed[b][n]).var(false).item<double>(), 1, 1e-4);
      EXPECT_EQ(largest(normal.masked_select(observed[b][n].logical_not())), 0);
    }
  EXPECT_LT(largest((window.denormalize(out.values, out) - past) * observed.to(at::kFloat)), 1e-5);
}

TEST(WindowNormalization, CompleteMaskChangesNothing) {
  for (Centre centre : {Centre::mean, Centre::last, Centre::none}) {
    const WindowNormalization window({2, 2}, {.centre = centre, .scale = centre != Centre::none});
    const at::Tensor past = at::randn({5, 2, 2, 30});
    const auto with = window.normalize(past, at::ones({5, 2, 2, 30}, at::kBool), {});
    EXPECT_LT(largest(with.values - window.normalize(past, {}, {}).values), 1e-5);
  }
}

TEST(WindowNormalization, LastTakesTheNewestObservedValue) {
  const at::Tensor past = at::tensor({1.0f, 2.0f, 3.0f, 0.0f, 0.0f, 0.0f}).view({1, 2, 3});
  const at::Tensor observed = at::tensor({1, 1, 0, 0, 0, 0}, at::kLong).to(at::kBool).view({1, 2, 3});
  EXPECT_TRUE(last_observed(past, observed).flatten().equal(at::tensor({2.0f, 0.0f})));
  EXPECT_TRUE(last_observed(past, {}).flatten().equal(at::tensor({3.0f, 0.0f})));
}

TEST(WindowNormalization, AWindowOfOneValueOrOfNoneStaysFinite) {
  const WindowNormalization window({2}, {});
  at::Tensor observed = at::ones({1, 2, 8}, at::kBool);
  observed[0][1].fill_(false);
  at::Tensor past = at::zeros({1, 2, 8});
  past[0][0].fill_(5);
  const NormalizedWindow out = window.normalize(past, observed, {});
  EXPECT_EQ(largest(out.values), 0);
  EXPECT_EQ(window.denormalize(at::zeros({1, 2, 4}), out)[0][0][0].item<float>(), 5);
  EXPECT_EQ(window.denormalize(at::zeros({1, 2, 4}), out)[0][1][0].item<float>(), 0);
}

TEST(WindowNormalization, OneObservedCellIsItsOwnMean) {
  const WindowNormalization window({1}, {});
  const at::Tensor past = at::tensor({0.0f, 5.0f, 0.0f}).view({1, 1, 3});
  const at::Tensor observed = at::tensor({0, 1, 0}, at::kLong).to(at::kBool).view({1, 1, 3});
  const NormalizedWindow out = window.normalize(past, observed, {});
  EXPECT_EQ(out.centre.item<float>(), 5);
  EXPECT_FLOAT_EQ(out.stddev.item<float>(), std::sqrt(1e-5f));
  EXPECT_EQ(largest(out.values), 0);
}

TEST(WindowNormalization, CycleIsTakenOffAndPutBackAtTheRightRows) {
  WindowNormalization window({2}, {.centre = Centre::none, .scale = false, .cycle = 5, .cycle_gain = 3});
  const at::Tensor profile = at::randn({5, 2});
  window.set_cycle(profile);
  const at::Tensor first = at::tensor({3, 14}, at::kLong);
  const NormalizedWindow out = window.normalize(at::zeros({2, 2, 7}), {}, first);
  const at::Tensor forecast = window.denormalize(at::zeros({2, 2, 9}), out);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < 9; ++i) {
      const int64_t row = first[b].item<int64_t>() + i;
      if (i < 7) {
        EXPECT_LT(largest(out.values[b].select(1, i) + profile[row % 5]), 1e-6);
      }
      EXPECT_LT(largest(forecast[b].select(1, i) - profile[(row + 7) % 5]), 1e-6);
    }
}

}  // namespace
}  // namespace modewise::nn
