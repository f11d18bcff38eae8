// Volume augmentation: keyed by counters, exact for moved voxels.

#include "modewise/data/volume_classification/augment.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/rot90.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "modewise/core/random.h"
#include "tests/data/scratch.h"
#include "tests/data/volume_classification/augment_batches.h"

namespace modewise::data {
namespace {

AugmentConfig everything() {
  AugmentConfig config;
  config.flips = {0, 1, 2};
  config.quarter_rotations = {0, 2};
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
  // Random numbers of a sample do not depend on the batch size.
  LabelledBatch shorter = batch_of(2);
  augment(shorter, everything(), 1, 2);
  EXPECT_TRUE(at::equal(shorter.values, run(1, 2).narrow(0, 0, 2)));
}

TEST(Augment, LeavesABatchAloneWhereNothingIsAsked) {
  LabelledBatch batch = batch_of(2, true);
  augment(batch, AugmentConfig{}, 1, 1);
  EXPECT_TRUE(at::equal(batch.values, batch_of(2, true).values));
  EXPECT_TRUE(at::equal(batch.valid, batch_of(2, true).valid));
}

TEST(Augment, FlipsAndTurnsOnlyMoveVoxels) {
  AugmentConfig config;
  config.flips = {0, 1, 2};
  config.quarter_rotations = {0, 1, 2};
  LabelledBatch batch = batch_of(64);
  const at::Tensor before = batch.values.clone();
  augment(batch, config, 5, 0);
  std::set<float> corners;
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_TRUE(at::equal(std::get<0>(batch.values[i].flatten().sort()), before[i].flatten()));
    corners.insert(batch.values[i][0][0][0][0].item<float>() - before[i][0][0][0][0].item<float>());
  }
  EXPECT_EQ(corners.size(), 8U);  // each corner is mapped to each corner
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
    EXPECT_EQ(cells, box);  // as many as in their bounding box
  }
  EXPECT_NEAR(static_cast<double>(erased), 80, 4 * std::sqrt(200 * 0.4 * 0.6));
  // 1/5 to 1/2 of each axis.
  EXPECT_EQ(lengths[0], (std::set<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(lengths[1], (std::set<int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(lengths[2], (std::set<int64_t>{2, 3, 4, 5, 6}));
}

TEST(Augment, FollowsItsDrawsOneByOne) {
  AugmentConfig config;
  config.flips = {0, 2};
  config.quarter_rotations = {0, 1};
  config.shift = 2;
  config.shape_transform = true;
  config.contrast = 0.4;
  config.brightness = 0.3;
  config.noise = 0.5;
  config.erase = 0.7;
  const RandomStream stream{5, RandomSite::augmentation, 9};
  const int64_t samples = 16, count = 6 * 7 * 6 * 2;
  LabelledBatch batch;
  batch.values = (at::arange(samples * count, at::kFloat) + 1).view({samples, 6, 7, 6, 2});
  batch.valid = batch.values.select(-1, 0).remainder(11).gt(1);
  batch.labels = at::zeros({samples}, at::kLong);
  const LabelledBatch before{batch.values.clone(), batch.valid.clone(), batch.labels};
  augment(batch, config, 5, 9);
  for (int64_t i = 0; i < samples; ++i) {
    DrawsOf draw{stream, static_cast<uint64_t>(i) * 64};
    at::Tensor x = before.values[i].clone(), valid = before.valid[i].clone();
    const auto move = [&](const std::function<at::Tensor(const at::Tensor&)>& how) {
      x = how(x), valid = how(valid);
    };
    for (const int64_t axis : {0, 2})
      if (draw() < 0.5) move([&](const at::Tensor& t) { return at::flip(t, {axis}); });
    const auto half_turns = static_cast<int64_t>(4 * draw()) / 2;  // in an area of 7 × 6
    move([&](const at::Tensor& t) { return at::rot90(t, 2 * half_turns, {1, 2}); });
    const auto rotations = static_cast<int64_t>(4 * draw());
    move([&](const at::Tensor& t) { return at::rot90(t, rotations, {0, 2}); });
    for (const int64_t axis : {0, 1, 2}) {
      const int64_t shift = static_cast<int64_t>(5 * draw()) - 2;
      move([&](const at::Tensor& t) {
        at::Tensor out = at::roll(t, {shift}, {axis});
        out.narrow(axis, shift > 0 ? 0 : t.size(axis) + shift, std::abs(shift)).zero_();
        return out;
      });
    }
    x = x * draw();
    x = x * (1 + draw.within(0.4));
    x = (x + draw.within(0.3)).contiguous();
    for (int64_t j = 0; j < count; ++j)
      x.mutable_data_ptr<float>()[j] +=
          static_cast<float>(0.5 * stream.normal((uint64_t{1} << 40) + static_cast<uint64_t>(i * count + j)));
    if (draw() < 0.7) {
      at::Tensor box = x;
      for (const int64_t axis : {0, 1, 2}) {
        const auto size = static_cast<double>(x.size(axis));
        const auto length = std::max<int64_t>(1, static_cast<int64_t>(size * (0.2 + 0.3 * draw())));
        const auto start = static_cast<int64_t>(draw() * static_cast<double>(x.size(axis) - length + 1));
        box = box.narrow(axis, start, length);
      }
      box.zero_();
    }
    EXPECT_TRUE(at::equal(batch.valid[i], valid)) << i;
    EXPECT_TRUE(at::equal(batch.values[i], x.masked_fill(valid.logical_not().unsqueeze(-1), 0))) << i;
  }
}

TEST(Augment, RefusesTurnsOfVolumesForImages) {
  const std::vector<std::function<void(AugmentConfig&)>> moves = {
      [](AugmentConfig& c) { c.flips = {0}; }, [](AugmentConfig& c) { c.quarter_rotations = {0}; },
      [](AugmentConfig& c) { c.shift = 1; },   [](AugmentConfig& c) { c.rotate = 1; },
      [](AugmentConfig& c) { c.scale = 0.1; }, [](AugmentConfig& c) { c.stretch = 0.1; }};
  for (size_t i = 0; i < moves.size(); ++i) {
    AugmentConfig config;
    moves[i](config);
    LabelledBatch images;
    images.values = at::zeros({2, 5, 5, 1});
    if (i == 0 || i == 2) {
      EXPECT_NO_THROW(augment(images, config, 1, 1)) << i;
      continue;
    }
    EXPECT_EQ(error_of(ErrorKind::config, [&] { augment(images, config, 1, 1); }),
              "augment: rotate, scale, stretch and rotate90_axes are for volumes with 3 axes, these have 2");
  }
}

TEST(Flipped, FlipsTheAxesWhoseBitsAreSet) {
  const LabelledBatch batch = batch_of(2, true);
  EXPECT_TRUE(flipped(batch, {0, 2}, 4).values.is_same(batch.values));
  const LabelledBatch once = flipped(batch, {0, 2}, 2);
  EXPECT_TRUE(at::equal(once.values, at::flip(batch.values, {3})));
  EXPECT_TRUE(at::equal(flipped(once, {0, 2}, 2).values, batch.values));
  EXPECT_TRUE(at::equal(flipped(batch, {0, 2}, 3).valid, at::flip(batch.valid, {1, 3})));
}

TEST(Augment, RefusesAxesThatAreNotThere) {
  LabelledBatch images;
  images.values = at::zeros({2, 5, 5, 1});
  AugmentConfig config;
  config.rotate = 5;
  EXPECT_EQ(error_of(ErrorKind::config, [&] { augment(images, config, 1, 1); }),
            "augment: rotate, scale, stretch and rotate90_axes are for volumes with 3 axes, these have 2");
  config = {};
  config.flips = {2};
  EXPECT_EQ(error_of(ErrorKind::config, [&] { augment(images, config, 1, 1); }),
            "augment.flip_axes contains 2, but the volumes have axes 0 to 1");
  config.flips = {1};
  EXPECT_NO_THROW(augment(images, config, 1, 1));
}

}  // namespace
}  // namespace modewise::data
