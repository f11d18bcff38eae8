// Random variations of training pictures: keyed by counters, whole pixels only.

#include "modewise/data/pictures/augment.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <set>

namespace modewise::data {
namespace {

LabelledBatch pictures_of(int64_t samples) {
  LabelledBatch batch;
  batch.values = (at::arange(samples * 7 * 5 * 3, at::kFloat) + 1).view({samples, 7, 5, 3});
  batch.labels = at::zeros({samples}, at::kLong);
  return batch;
}

at::Tensor varied_pictures(int64_t samples, const PictureAugmentConfig& config, uint64_t seed,
                           uint64_t number) {
  LabelledBatch batch = pictures_of(samples);
  augment(batch, config, at::tensor({-1.0F, -2.0F, -3.0F}), seed, number);
  return batch.values;
}

TEST(PictureAugment, DependsOnSeedNumberAndPlaceAlone) {
  const at::Tensor values = varied_pictures(9, {}, 1, 2);
  EXPECT_TRUE(at::equal(varied_pictures(9, {}, 1, 2), values));
  EXPECT_FALSE(at::equal(varied_pictures(9, {}, 1, 3), values));
  EXPECT_FALSE(at::equal(varied_pictures(9, {}, 2, 2), values));
  EXPECT_TRUE(at::equal(varied_pictures(5, {}, 1, 2), values.narrow(0, 0, 5)));
  EXPECT_TRUE(at::equal(varied_pictures(9, {false, 0}, 1, 2), pictures_of(9).values));
}

TEST(PictureAugment, MirrorsAboutHalf) {
  const at::Tensor before = pictures_of(200).values, after = varied_pictures(200, {true, 0}, 7, 0);
  int mirrored = 0;
  for (int64_t i = 0; i < 200; ++i) {
    const bool same = at::equal(after[i], before[i]);
    mirrored += same ? 0 : 1;
    EXPECT_TRUE(at::equal(after[i], same ? before[i] : at::flip(before[i], {1})));
  }
  EXPECT_GT(mirrored, 75);
  EXPECT_LT(mirrored, 125);
}

TEST(PictureAugment, MovesByWholePixelsWithBlackBehind) {
  const int64_t most = 2;
  const at::Tensor before = pictures_of(300).values, after = varied_pictures(300, {false, most}, 7, 0);
  const at::Tensor black = at::tensor({-1.0F, -2.0F, -3.0F});
  std::set<std::pair<int64_t, int64_t>> moves;
  for (int64_t i = 0; i < 300; ++i) {
    // The first pixel that is not black tells the move; the padded picture then says all of it.
    for (int64_t down = -most; down <= most; ++down)
      for (int64_t across = -most; across <= most; ++across) {
        at::Tensor padded = black.expand({7 + 2 * most, 5 + 2 * most, 3}).clone();
        padded.narrow(0, most, 7).narrow(1, most, 5).copy_(before[i]);
        if (at::equal(padded.narrow(0, most - down, 7).narrow(1, most - across, 5), after[i]))
          moves.insert({down, across});
      }
  }
  EXPECT_EQ(moves.size(), 25U);
  // A picture that is moved out of itself is black.
  LabelledBatch batch = pictures_of(64);
  augment(batch, {false, 1000}, black, 3, 0);
  EXPECT_GT(batch.values.eq(black).all(-1).sum().item<int64_t>(), 60 * 35);
}

}  // namespace
}  // namespace modewise::data
