// Rotated, scaled, stretched and shifted volumes: parameters, and results computed voxel by voxel.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/diag.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_det.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/data/volume_classification/augment.h"
#include "tests/data/volume_classification/augment_batches.h"

namespace modewise::data {
namespace {

TEST(Augment, KeepsTheMiddleAndTheMaskUnderSmallTurns) {
  AugmentConfig config;
  config.rotate = 10;
  config.scale = 0.1;
  LabelledBatch batch = batch_of(8, true);
  augment(batch, config, 5, 0);
  // Invalid voxels are 0; valid ones are means of valid voxels.
  EXPECT_EQ(batch.values.masked_select(batch.valid.logical_not().unsqueeze(-1)).abs().sum().item<float>(), 0);
  const double valid = batch.valid.to(at::kFloat).mean().item<double>();
  EXPECT_GT(valid, 0.5);
  EXPECT_LT(valid, 0.75);
  for (int64_t i = 0; i < 8; ++i) {
    const at::Tensor inside = batch.values[i].squeeze(-1).masked_select(batch.valid[i]);
    EXPECT_GE(inside.min().item<float>(), static_cast<float>(216 * i));
    EXPECT_LE(inside.max().item<float>(), static_cast<float>(216 * i + 145));
  }
  // Inner voxels of a constant volume keep the value up to rounding.
  LabelledBatch flat = batch_of(4);
  flat.values.fill_(3);
  augment(flat, config, 5, 1);
  EXPECT_FLOAT_EQ(flat.values.narrow(1, 2, 2).narrow(2, 2, 2).narrow(3, 2, 2).mean().item<float>(), 3);
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

/// Source of the middle voxel of a deformed volume of `places`, and the steps along its axes as columns.
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
    // Lengths and angles are preserved, without reflection.
    EXPECT_LT((steps.matmul(steps.t()) - at::eye(3, at::kDouble)).abs().max().item<double>(), 1e-4);
    EXPECT_NEAR(at::linalg_det(steps).item<double>(), 1, 1e-4);
    largest = std::max(largest, std::abs(std::asin(steps[0][1].item<double>())));
    // Other voxels with sources inside the volume follow the same map.
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
              1e-4);  // equal along all axes
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
  double minimum = 9, maximum = -9;
  for (int64_t i = 0; i < 64; ++i) {
    const auto [middle, steps] = map_of(batch.values[i]);
    for (int64_t axis = 0; axis < 3; ++axis) {
      EXPECT_GE(1 / steps[axis][axis].item<double>(), 0.7999);
      EXPECT_LE(1 / steps[axis][axis].item<double>(), 1.2001);
      factors.insert(std::round(1e3 / steps[axis][axis].item<double>()));
      const double offset = middle[axis].item<double>() - static_cast<double>(4 + axis);
      minimum = std::min(minimum, offset), maximum = std::max(maximum, offset);
    }
    EXPECT_LT((steps - at::diag(steps.diag())).abs().max().item<double>(), 1e-4);
  }
  EXPECT_GT(factors.size(), 100U);  // each axis independently
  EXPECT_GE(minimum, -2.0001);
  EXPECT_LT(minimum, -1.8);
  EXPECT_LE(maximum, 2.0001);
  EXPECT_GT(maximum, 1.8);
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
  // A weighted mean of threes is three; missing voxels are 0.
  const at::Tensor valid = batch.valid.unsqueeze(-1).expand_as(batch.values);
  EXPECT_LT((batch.values.masked_select(valid) - 3).abs().max().item<double>(), 1e-5);
  EXPECT_EQ(batch.values.masked_select(valid.logical_not()).abs().max().item<double>(), 0);
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(batch.valid[i][4][7][6].item<bool>());
    EXPECT_FALSE(batch.valid[i][4][1][6].item<bool>());
  }
}

/// Trilinear weights of voxels at `place` of a volume [X, Y, Z]: Π max(0, 1 − distance along an axis).
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
  config.interpolation = "nearest";
  expect_deformed(batch, config);
}

}  // namespace
}  // namespace modewise::data
