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
#include <ATen/ops/ones_like.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/rot90.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "modewise/core/random.h"
#include "tests/data/scratch.h"

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

/// The draws of one sample, one after the other.
struct DrawsOf {
  RandomStream stream;
  uint64_t next;
  double operator()() { return stream.uniform(next++); }
  double within(double most) { return most * (2 * (*this)() - 1); }
};

TEST(Augment, FollowsItsDrawsOneByOne) {
  AugmentConfig config;
  config.flips = {0, 2};
  config.quarter_turns = {0, 1};
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
    const auto half_turns = static_cast<int64_t>(4 * draw()) / 2;  // of an area of 7 × 6
    move([&](const at::Tensor& t) { return at::rot90(t, 2 * half_turns, {1, 2}); });
    const auto turns = static_cast<int64_t>(4 * draw());
    move([&](const at::Tensor& t) { return at::rot90(t, turns, {0, 2}); });
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

/// Where `place` of a volume [X, Y, Z] lies between voxels: each weighs Π max(0, 1 − distance along an axis).
double interpolated(const at::Tensor& volume, const at::Tensor& place) {
  double sum = 0;
  const auto values = volume.accessor<float, 3>();
  const auto at = place.accessor<double, 1>();
  const auto weight = [&](int64_t axis, int64_t i) {
    return std::max(0.0, 1 - std::abs(at[axis] - static_cast<double>(i)));
  };
  for (int64_t i = 0; i < volume.size(0); ++i)
    for (int64_t j = 0; j < volume.size(1); ++j)
      for (int64_t k = 0; k < volume.size(2); ++k)
        sum += weight(0, i) * weight(1, j) * weight(2, k) * values[i][j][k];
  return sum;
}

void expect_deformed(const LabelledBatch& before, const AugmentConfig& config) {
  LabelledBatch batch{before.values.clone(), before.valid.defined() ? before.valid.clone() : at::Tensor(),
                      before.labels};
  augment(batch, config, 5, 9);
  int64_t compared = 0;
  for (int64_t sample = 0; sample < before.values.size(0); ++sample) {
    DrawsOf draw{{5, RandomSite::augmentation, 9}, static_cast<uint64_t>(sample) * 64};
    at::Tensor matrix = at::eye(3, at::kDouble), offset = at::zeros({3}, at::kDouble);
    for (const int64_t axis : {0, 1, 2}) {
      const double angle = draw.within(config.rotate) * std::numbers::pi / 180, c = std::cos(angle),
                   s = std::sin(angle);
      const std::vector<double> about[3] = {
          {1, 0, 0, 0, c, -s, 0, s, c}, {c, 0, s, 0, 1, 0, -s, 0, c}, {c, -s, 0, s, c, 0, 0, 0, 1}};
      matrix = matrix.matmul(at::tensor(about[axis], at::kDouble).view({3, 3}));
    }
    const double scale = 1 + draw.within(config.scale);
    for (const int64_t axis : {0, 1, 2}) {
      matrix.select(1, axis).div_(scale * (1 + draw.within(config.stretch)));
      offset[axis] = draw.within(static_cast<double>(config.shift));
    }
    const at::Tensor volume = before.values[sample].squeeze(-1);
    const at::Tensor seen =
        before.valid.defined() ? before.valid[sample].to(at::kFloat) : at::ones_like(volume);
    for (int64_t voxel = 0; voxel < volume.numel(); ++voxel) {
      const int64_t z = volume.size(2), y = volume.size(1),
                    at[3] = {voxel / (y * z), voxel / z % y, voxel % z};
      at::Tensor centre = at::empty({3}, at::kDouble), output = at::empty({3}, at::kDouble);
      for (int64_t axis = 0; axis < 3; ++axis) {
        centre[axis] = static_cast<double>(volume.size(axis) - 1) / 2;
        output[axis] = static_cast<double>(at[axis]);
      }
      at::Tensor place = matrix.matmul(output - centre) + centre + offset;
      if (config.interpolation == "nearest") place = place.round();
      const double sum = interpolated(volume * seen, place), weight = interpolated(seen, place);
      const auto value = batch.values[sample].flatten()[voxel].item<double>();
      if (!before.valid.defined()) {
        EXPECT_NEAR(value, sum, 2e-4);
      } else if (std::abs(weight - 0.5) > 1e-6) {
        ASSERT_EQ(batch.valid[sample].flatten()[voxel].item<bool>(), weight > 0.5);
        EXPECT_NEAR(value, weight > 0.5 ? sum / weight : 0, 2e-4);
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared > 0, before.valid.defined());
}

TEST(Augment, DeformsByTheMapThatItDraws) {
  AugmentConfig config;
  config.rotate = 40;
  config.scale = 0.4;
  config.stretch = 0.3;
  config.shift = 1;
  LabelledBatch batch;
  batch.values = at::arange(4 * 60, at::kFloat).remainder(17).view({4, 3, 4, 5, 1}) + 1;
  batch.labels = at::zeros({4}, at::kLong);
  expect_deformed(batch, config);
  config.interpolation = "nearest";
  expect_deformed(batch, config);
  config.interpolation = "linear";
  batch.valid = batch.values.squeeze(-1).gt(4);
  expect_deformed(batch, config);
}

TEST(Augment, SaysWhatMovesVoxels) {
  EXPECT_FALSE(AugmentConfig().moves_voxels());
  const std::vector<std::function<void(AugmentConfig&)>> moves = {
      [](AugmentConfig& c) { c.flips = {0}; }, [](AugmentConfig& c) { c.quarter_turns = {0}; },
      [](AugmentConfig& c) { c.shift = 1; },   [](AugmentConfig& c) { c.rotate = 1; },
      [](AugmentConfig& c) { c.scale = 0.1; }, [](AugmentConfig& c) { c.stretch = 0.1; }};
  for (size_t i = 0; i < moves.size(); ++i) {
    AugmentConfig config;
    moves[i](config);
    EXPECT_TRUE(config.moves_voxels()) << i;
    LabelledBatch images;
    images.values = at::zeros({2, 5, 5, 1});
    if (i == 0 || i == 2) {
      EXPECT_NO_THROW(augment(images, config, 1, 1)) << i;
      continue;
    }
    EXPECT_EQ(error_of(ErrorKind::config, [&] { augment(images, config, 1, 1); }),
              "augment: rotate, scale, stretch and quarter_turns are for volumes of 3 axes, these have 2");
  }
}

TEST(Mirrored, FlipsTheAxesWhoseBitsAreSet) {
  const LabelledBatch batch = batch_of(2, true);
  EXPECT_TRUE(mirrored(batch, {0, 2}, 4).values.is_same(batch.values));
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
  EXPECT_EQ(error_of(ErrorKind::config, [&] { augment(images, config, 1, 1); }),
            "augment.flips holds 2, but the volumes have axes 0 to 1");
  config.flips = {1};
  EXPECT_NO_THROW(augment(images, config, 1, 1));
}

}  // namespace
}  // namespace modewise::data
