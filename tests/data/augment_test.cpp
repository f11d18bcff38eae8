// Random variations of volumes: keyed by counters, exact where they only move voxels.

#include "modewise/data/augment.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rot90.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "modewise/core/error.h"

namespace modewise::data {
namespace {

/// B volumes of 6 × 6 × 6 voxels with different values.
VolumeBatch batch_of(int64_t samples, bool masked = false) {
  VolumeBatch batch;
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
    VolumeBatch batch = batch_of(3);
    augment(batch, everything(), seed, number);
    return batch.values;
  };
  EXPECT_TRUE(at::equal(run(1, 2), run(1, 2)));
  EXPECT_FALSE(at::equal(run(1, 2), run(1, 3)));
  EXPECT_FALSE(at::equal(run(1, 2), run(2, 2)));
  // A sample's draws do not depend on the size of its batch.
  VolumeBatch shorter = batch_of(2);
  augment(shorter, everything(), 1, 2);
  EXPECT_TRUE(at::equal(shorter.values, run(1, 2).narrow(0, 0, 2)));
}

TEST(Augment, LeavesABatchAloneWhereNothingIsAsked) {
  VolumeBatch batch = batch_of(2, true);
  augment(batch, {}, 1, 1);
  EXPECT_TRUE(at::equal(batch.values, batch_of(2, true).values));
  EXPECT_TRUE(at::equal(batch.valid, batch_of(2, true).valid));
}

TEST(Augment, MirrorsAndTurnsOnlyMoveVoxels) {
  AugmentConfig config;
  config.flips = {0, 1, 2};
  config.quarter_turns = {0, 1, 2};
  VolumeBatch batch = batch_of(64);
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
  VolumeBatch batch = batch_of(16);
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
  VolumeBatch batch = batch_of(8, true);
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
  VolumeBatch flat = batch_of(4);
  flat.values.fill_(3);
  augment(flat, config, 5, 1);
  EXPECT_NEAR(flat.values.narrow(1, 2, 2).narrow(2, 2, 2).narrow(3, 2, 2).mean().item<float>(), 3, 1e-5);
}

TEST(Augment, TakesTheNearestVoxelWhereAsked) {
  AugmentConfig config;
  config.rotate = 30;
  config.scale = 0.2;
  config.interpolation = "nearest";
  VolumeBatch batch = batch_of(4);
  augment(batch, config, 5, 0);
  EXPECT_TRUE(at::equal(batch.values, batch.values.round()));
  EXPECT_FALSE(at::equal(batch.values, batch_of(4).values));
  EXPECT_EQ(batch.values[1].max().item<float>() <= 432, true);
}

TEST(Augment, ShapeTransformIsRandomInTrainingAndOneHalfInEvaluation) {
  AugmentConfig config;
  config.shape_transform = true;
  VolumeBatch batch = batch_of(64);
  const at::Tensor before = batch.values.clone();
  augment(batch, config, 5, 0);
  const at::Tensor factors = (batch.values / before).flatten(1);
  EXPECT_LT((factors.narrow(1, 1, 1) - factors.narrow(1, 0, 1)).abs().max().item<float>(), 1e-5);
  EXPECT_GT(factors.max().item<float>(), 0.9);
  EXPECT_LT(factors.min().item<float>(), 0.1);
  VolumeBatch evaluated = batch_of(2);
  transform_for_evaluation(evaluated, config);
  EXPECT_TRUE(at::equal(evaluated.values, batch_of(2).values * 0.5));
}

TEST(Mirrored, FlipsTheAxesWhoseBitsAreSet) {
  const VolumeBatch batch = batch_of(2, true);
  const VolumeBatch once = mirrored(batch, {0, 2}, 2);
  EXPECT_TRUE(at::equal(once.values, at::flip(batch.values, {3})));
  EXPECT_TRUE(at::equal(mirrored(once, {0, 2}, 2).values, batch.values));
  EXPECT_TRUE(at::equal(mirrored(batch, {0, 2}, 3).valid, at::flip(batch.valid, {1, 3})));
}

TEST(Augment, RefusesAxesThatAreNotThere) {
  VolumeBatch images;
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
