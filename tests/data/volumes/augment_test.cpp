// Random variations of volumes: keyed by counters, exact where they only move voxels.

#include "modewise/data/volumes/augment.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/diag.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/linalg_det.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rot90.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "modewise/core/error.h"

namespace modewise::data {
namespace {

/// B volumes of 6 × 6 × 6 voxels with different values.
LabelledBatch batch_of(int64_t samples, bool masked = false) {
  LabelledBatch batch;
  batch.values = (at::arange(samples * 216, at::kFloat) + 1).view({samples, 6, 6, 6, 1});
  batch.labels = at::zeros({samples}, at::kLong);
  if (masked) {
    batch.valid = at::ones({samples, 6, 6, 6}, at::kBool);
    batch.valid.narrow(1, 4, 2).fill_(false);
    batch.values.narrow(1, 4, 2).zero_();
  }
  return batch;
}

AugmentConfig everything() {
  AugmentConfig config;
  config.flips = {0, 1, 2};
  config.quarter_turns = {0, 2};
  config.shift = 1;
  config.rotate = 20;
  config.scale = 0.2;
  config.stretch = 0.1;
  config.contrast = config.brightness = 0.1;
  config.noise = 0.01;
  config.erase = 0.5;
  return config;
}

TEST(Augment, DependsOnSeedNumberAndPlaceAlone) {
  const auto run = [](uint64_t seed, uint64_t number) {
    LabelledBatch batch = batch_of(3);
    augment(batch, everything(), seed, number);
    return batch.values;
  };
  EXPECT_TRUE(at::equal(run(1, 2), run(1, 2)));
  EXPECT_FALSE(at::equal(run(1, 2), run(1, 3)));
  EXPECT_FALSE(at::equal(run(1, 2), run(2, 2)));
  // A sample's draws do not depend on the size of its batch.
  LabelledBatch shorter = batch_of(2);
  augment(shorter, everything(), 1, 2);
  EXPECT_TRUE(at::equal(shorter.values, run(1, 2).narrow(0, 0, 2)));
}

TEST(Augment, LeavesABatchAloneWhereNothingIsAsked) {
  LabelledBatch batch = batch_of(2, true);
  augment(batch, {}, 1, 1);
  EXPECT_TRUE(at::equal(batch.values, batch_of(2, true).values));
  EXPECT_TRUE(at::equal(batch.valid, batch_of(2, true).valid));
}

TEST(Augment, MirrorsAndTurnsOnlyMoveVoxels) {
  AugmentConfig config;
  config.flips = {0, 1, 2};
  config.quarter_turns = {0, 1, 2};
  LabelledBatch batch = batch_of(64);
  const at::Tensor before = batch.values.clone();
  augment(batch, config, 5, 0);
  std::set<float> corners;
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_TRUE(at::equal(std::get<0>(batch.values[i].flatten().sort()), before[i].flatten()));
    corners.insert(batch.values[i][0][0][0][0].item<float>() - before[i][0][0][0][0].item<float>());
  }
  EXPECT_EQ(corners.size(), 8U);  // each corner comes to each corner
}

TEST(Augment, ShiftsByWholeVoxelsWithZerosBehind) {
  AugmentConfig config;
  config.shift = 2;
  LabelledBatch batch = batch_of(16);
  const at::Tensor before = batch.values.clone();
  augment(batch, config, 5, 0);
  bool moved = false;
  for (int64_t i = 0; i < 16; ++i) {
    bool found = false;
    for (int64_t a = -2; a <= 2; ++a)
      for (int64_t b = -2; b <= 2; ++b)
        for (int64_t c = -2; c <= 2; ++c) {
          at::Tensor wanted = at::zeros({6, 6, 6, 1});
          const auto part = [](at::Tensor x, int64_t axis, int64_t shift) {
            return x.narrow(axis, std::max<int64_t>(shift, 0), 6 - std::abs(shift));
          };
          part(part(part(wanted, 0, a), 1, b), 2, c).copy_(part(part(part(before[i], 0, -a), 1, -b), 2, -c));
          if (!at::equal(wanted, batch.values[i])) continue;
          found = true;
          moved = moved || a != 0 || b != 0 || c != 0;
        }
    EXPECT_TRUE(found) << i;
  }
  EXPECT_TRUE(moved);
}

TEST(Augment, KeepsTheMiddleAndTheMaskUnderSmallTurns) {
  AugmentConfig config;
  config.rotate = 10;
  config.scale = 0.1;
  LabelledBatch batch = batch_of(8, true);
  augment(batch, config, 5, 0);
  // Where the mask says no, there is nothing; where it says yes, a mean of valid voxels alone.
  EXPECT_EQ(batch.values.masked_select(batch.valid.logical_not().unsqueeze(-1)).abs().sum().item<float>(), 0);
  const double valid = batch.valid.to(at::kFloat).mean().item<double>();
  EXPECT_GT(valid, 0.5);
  EXPECT_LT(valid, 0.75);
  for (int64_t i = 0; i < 8; ++i) {
    const at::Tensor inside = batch.values[i].squeeze(-1).masked_select(batch.valid[i]);
    EXPECT_GE(inside.min().item<float>(), static_cast<float>(216 * i));
    EXPECT_LE(inside.max().item<float>(), static_cast<float>(216 * i + 145));
  }
  // Of a volume of one value the inner voxels keep it to the last digits.
  LabelledBatch flat = batch_of(4);
  flat.values.fill_(3);
  augment(flat, config, 5, 1);
  EXPECT_NEAR(flat.values.narrow(1, 2, 2).narrow(2, 2, 2).narrow(3, 2, 2).mean().item<float>(), 3, 1e-5);
}

TEST(Augment, TakesTheNearestVoxelWhereAsked) {
  AugmentConfig config;
  config.rotate = 30;
  config.scale = 0.2;
  config.interpolation = "nearest";
  LabelledBatch batch = batch_of(4);
  augment(batch, config, 5, 0);
  EXPECT_TRUE(at::equal(batch.values, batch.values.round()));
  EXPECT_FALSE(at::equal(batch.values, batch_of(4).values));
  EXPECT_LE(batch.values[1].max().item<float>(), 432);
}

TEST(Augment, ShapeTransformIsRandomInTrainingAndOneHalfInEvaluation) {
  AugmentConfig config;
  config.shape_transform = true;
  LabelledBatch batch = batch_of(64);
  const at::Tensor before = batch.values.clone();
  augment(batch, config, 5, 0);
  const at::Tensor factors = (batch.values / before).flatten(1);
  EXPECT_LT((factors.narrow(1, 1, 1) - factors.narrow(1, 0, 1)).abs().max().item<float>(), 1e-5);
  EXPECT_GT(factors.max().item<float>(), 0.9);
  EXPECT_LT(factors.min().item<float>(), 0.1);
  LabelledBatch evaluated = batch_of(2);
  transform_for_evaluation(evaluated, config);
  EXPECT_TRUE(at::equal(evaluated.values, batch_of(2).values * 0.5));
}

/// Volumes of 9 × 11 × 13 voxels whose three channels are a voxel's place, 100 more so that 0 is none.
LabelledBatch places(int64_t samples) {
  const at::Tensor out = at::empty({samples, 9, 11, 13, 3});
  out.select(-1, 0).copy_(at::arange(9, at::kFloat).view({9, 1, 1}) + 100);
  out.select(-1, 1).copy_(at::arange(11, at::kFloat).view({11, 1}) + 100);
  out.select(-1, 2).copy_(at::arange(13, at::kFloat) + 100);
  return {out, {}, at::zeros({samples}, at::kLong)};
}

/// From where a deformed volume of `places` takes its middle voxel, and the steps along its axes as columns.
std::pair<at::Tensor, at::Tensor> map_of(const at::Tensor& volume) {
  const at::Tensor middle = volume[4][5][6].to(at::kDouble) - 100;
  const at::Tensor steps = (at::stack({volume[5][5][6], volume[4][6][6], volume[4][5][7]}, 1) -
                            at::stack({volume[3][5][6], volume[4][4][6], volume[4][5][5]}, 1)) /
                           2;
  return {middle, steps.to(at::kDouble)};
}

TEST(Augment, TurnsAboutTheMiddle) {
  AugmentConfig config;
  config.rotate = 25;
  LabelledBatch batch = places(32);
  augment(batch, config, 5, 0);
  double largest = 0;
  for (int64_t i = 0; i < 32; ++i) {
    const auto [middle, steps] = map_of(batch.values[i]);
    EXPECT_LT((middle - at::tensor({4.0, 5.0, 6.0}, at::kDouble)).abs().max().item<double>(), 1e-4);
    // Lengths and angles stay, and nothing is mirrored.
    EXPECT_LT((steps.matmul(steps.t()) - at::eye(3, at::kDouble)).abs().max().item<double>(), 1e-4);
    EXPECT_NEAR(at::linalg_det(steps).item<double>(), 1, 1e-4);
    largest = std::max(largest, std::abs(std::asin(steps[0][1].item<double>())));
    // The other voxels whose sources lie inside follow the same map.
    const at::Tensor wanted = steps.matmul(at::tensor({2.0, -1.0, 3.0}, at::kDouble)) + middle + 100;
    EXPECT_LT((batch.values[i][6][4][9] - wanted).abs().max().item<double>(), 1e-3);
  }
  EXPECT_GT(largest, 0.2);
  EXPECT_LE(largest, 25.01 * std::numbers::pi / 180);
}

TEST(Augment, ScalesStretchesAndShiftsByWhatIsAsked) {
  AugmentConfig config;
  config.scale = 0.3;
  LabelledBatch batch = places(64);
  augment(batch, config, 5, 0);
  double smallest = 9, largest = 0;
  for (int64_t i = 0; i < 64; ++i) {
    const auto [middle, steps] = map_of(batch.values[i]);
    const double one = steps[0][0].item<double>();
    EXPECT_LT((steps - at::eye(3, at::kDouble) * one).abs().max().item<double>(),
              1e-4);  // alike along all axes
    smallest = std::min(smallest, 1 / one), largest = std::max(largest, 1 / one);
  }
  EXPECT_GE(smallest, 0.6999);
  EXPECT_LT(smallest, 0.75);
  EXPECT_LE(largest, 1.3001);
  EXPECT_GT(largest, 1.25);

  config.scale = 0;
  config.stretch = 0.2;
  config.shift = 2;
  batch = places(64);
  augment(batch, config, 5, 1);
  std::set<double> factors;
  double least = 9, most = -9;
  for (int64_t i = 0; i < 64; ++i) {
    const auto [middle, steps] = map_of(batch.values[i]);
    for (int64_t axis = 0; axis < 3; ++axis) {
      EXPECT_GE(1 / steps[axis][axis].item<double>(), 0.7999);
      EXPECT_LE(1 / steps[axis][axis].item<double>(), 1.2001);
      factors.insert(std::round(1e3 / steps[axis][axis].item<double>()));
      const double offset = middle[axis].item<double>() - static_cast<double>(4 + axis);
      least = std::min(least, offset), most = std::max(most, offset);
    }
    EXPECT_LT((steps - at::diag(steps.diag())).abs().max().item<double>(), 1e-4);
  }
  EXPECT_GT(factors.size(), 100U);  // each axis on its own
  EXPECT_GE(least, -2.0001);
  EXPECT_LT(least, -1.8);
  EXPECT_LE(most, 2.0001);
  EXPECT_GT(most, 1.8);
}

TEST(Augment, OfMissingVoxelsTakesTheMeanOfTheOthers) {
  AugmentConfig config;
  config.rotate = 20;
  LabelledBatch batch = places(8);
  batch.values.fill_(3);
  batch.valid = at::ones({8, 9, 11, 13}, at::kBool);
  batch.valid.narrow(2, 0, 4).fill_(false);
  batch.values.narrow(2, 0, 4).fill_(1e6);
  augment(batch, config, 5, 0);
  // A weighted mean of threes is three; what is missing holds nothing.
  const at::Tensor valid = batch.valid.unsqueeze(-1).expand_as(batch.values);
  EXPECT_LT((batch.values.masked_select(valid) - 3).abs().max().item<double>(), 1e-5);
  EXPECT_EQ(batch.values.masked_select(valid.logical_not()).abs().max().item<double>(), 0);
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(batch.valid[i][4][7][6].item<bool>());
    EXPECT_FALSE(batch.valid[i][4][1][6].item<bool>());
  }
}

TEST(Augment, ChangesContrastAndBrightnessOfAWholeVolume) {
  AugmentConfig config;
  config.contrast = 0.4;
  config.brightness = 0.3;
  LabelledBatch batch = batch_of(64);
  const at::Tensor before = batch.values.flatten(1).clone();
  augment(batch, config, 5, 0);
  const at::Tensor after = batch.values.flatten(1);
  const at::Tensor slope = (after.select(1, 215) - after.select(1, 0)) / 215;
  const at::Tensor offset = after.select(1, 0) - slope * before.select(1, 0);
  EXPECT_LT((after - before * slope.unsqueeze(1) - offset.unsqueeze(1)).abs().max().item<double>(), 0.02);
  EXPECT_GE(slope.min().item<double>(), 0.6 - 1e-3);
  EXPECT_LT(slope.min().item<double>(), 0.65);
  EXPECT_LE(slope.max().item<double>(), 1.4 + 1e-3);
  EXPECT_GT(slope.max().item<double>(), 1.35);
  config.contrast = 0;
  batch = batch_of(64);
  augment(batch, config, 5, 0);
  const at::Tensor added = batch.values.flatten(1).select(1, 0) - before.select(1, 0);
  EXPECT_GE(added.min().item<double>(), -0.302);
  EXPECT_LT(added.min().item<double>(), -0.25);
  EXPECT_LE(added.max().item<double>(), 0.302);
  EXPECT_GT(added.max().item<double>(), 0.25);
}

TEST(Augment, AddsNoiseOfItsOwnToEachVoxel) {
  AugmentConfig config;
  config.noise = 0.5;
  LabelledBatch batch = batch_of(40);
  batch.values.zero_();
  augment(batch, config, 5, 0);
  const int64_t count = batch.values.numel();  // 8,640 draws: four standard errors either way
  EXPECT_NEAR(batch.values.mean().item<double>(), 0, 4 * 0.5 / std::sqrt(count));
  EXPECT_NEAR(batch.values.std().item<double>(), 0.5, 4 * 0.5 / std::sqrt(2.0 * static_cast<double>(count)));
  const at::Tensor flat = batch.values.flatten();
  std::set<float> different(flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + count);
  EXPECT_GT(std::ssize(different), count - 20);
}

TEST(Augment, ErasesABoxInTheShareOfSamplesAskedFor) {
  AugmentConfig config;
  config.erase = 0.4;
  LabelledBatch batch = places(200);
  augment(batch, config, 5, 0);
  int64_t erased = 0;
  std::set<int64_t> lengths[3];
  for (int64_t i = 0; i < 200; ++i) {
    const at::Tensor zero = batch.values[i].eq(0).all(-1);
    const int64_t cells = zero.sum().item<int64_t>();
    if (cells == 0) continue;
    ++erased;
    int64_t box = 1;
    for (int64_t axis = 0; axis < 3; ++axis) {
      const int64_t length = zero.any((axis + 1) % 3, true).any((axis + 2) % 3, true).sum().item<int64_t>();
      lengths[axis].insert(length);
      box *= length;
    }
    EXPECT_EQ(cells, box);  // as many as the smallest box around them holds
  }
  EXPECT_NEAR(static_cast<double>(erased), 80, 4 * std::sqrt(200 * 0.4 * 0.6));
  // From a fifth to half of each axis.
  EXPECT_EQ(lengths[0], (std::set<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(lengths[1], (std::set<int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(lengths[2], (std::set<int64_t>{2, 3, 4, 5, 6}));
}

TEST(Mirrored, FlipsTheAxesWhoseBitsAreSet) {
  const LabelledBatch batch = batch_of(2, true);
  const LabelledBatch once = mirrored(batch, {0, 2}, 2);
  EXPECT_TRUE(at::equal(once.values, at::flip(batch.values, {3})));
  EXPECT_TRUE(at::equal(mirrored(once, {0, 2}, 2).values, batch.values));
  EXPECT_TRUE(at::equal(mirrored(batch, {0, 2}, 3).valid, at::flip(batch.valid, {1, 3})));
}

TEST(Augment, RefusesAxesThatAreNotThere) {
  LabelledBatch images;
  images.values = at::zeros({2, 5, 5, 1});
  AugmentConfig config;
  config.rotate = 5;
  EXPECT_THROW(augment(images, config, 1, 1), Error);
  config = {};
  config.flips = {2};
  EXPECT_THROW(augment(images, config, 1, 1), Error);
}

}  // namespace
}  // namespace modewise::data
