// Image augmentation: keyed by counters, whole pixels only.

#include "modewise/data/image_classification/augment.h"

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

LabelledBatch images_of(int64_t samples) {
  LabelledBatch batch;
  batch.values = (at::arange(samples * 7 * 5 * 3, at::kFloat) + 1).view({samples, 7, 5, 3});
  batch.labels = at::zeros({samples}, at::kLong);
  return batch;
}

at::Tensor varied_images(int64_t samples, const ImageAugmentConfig& config, uint64_t seed, uint64_t number) {
  LabelledBatch batch = images_of(samples);
  augment(batch, config, at::tensor({-1.0F, -2.0F, -3.0F}), seed, number);
  return batch.values;
}

TEST(ImageAugment, DependsOnSeedNumberAndPlaceAlone) {
  const at::Tensor values = varied_images(9, {}, 1, 2);
  EXPECT_TRUE(at::equal(varied_images(9, {}, 1, 2), values));
  EXPECT_FALSE(at::equal(varied_images(9, {}, 1, 3), values));
  EXPECT_FALSE(at::equal(varied_images(9, {}, 2, 2), values));
  EXPECT_TRUE(at::equal(varied_images(5, {}, 1, 2), values.narrow(0, 0, 5)));
  EXPECT_TRUE(at::equal(varied_images(9, {false, 0}, 1, 2), images_of(9).values));
}

TEST(ImageAugment, FlipsAboutHalf) {
  const at::Tensor before = images_of(200).values, after = varied_images(200, {true, 0}, 7, 0);
  int flipped = 0;
  for (int64_t i = 0; i < 200; ++i) {
    const bool same = at::equal(after[i], before[i]);
    flipped += same ? 0 : 1;
    EXPECT_TRUE(at::equal(after[i], same ? before[i] : at::flip(before[i], {1})));
  }
  EXPECT_GT(flipped, 75);
  EXPECT_LT(flipped, 125);
}

TEST(ImageAugment, MovesByWholePixelsWithBlackBehind) {
  const int64_t maximum = 2;
  const at::Tensor before = images_of(300).values, after = varied_images(300, {false, maximum}, 7, 0);
  const at::Tensor black = at::tensor({-1.0F, -2.0F, -3.0F});
  std::set<std::pair<int64_t, int64_t>> moves;
  for (int64_t i = 0; i < 300; ++i) {
    // The first non-black pixel determines the shift; the padded image is then compared as a whole.
    for (int64_t down = -maximum; down <= maximum; ++down)
      for (int64_t across = -maximum; across <= maximum; ++across) {
        at::Tensor padded = black.expand({7 + 2 * maximum, 5 + 2 * maximum, 3}).clone();
        padded.narrow(0, maximum, 7).narrow(1, maximum, 5).copy_(before[i]);
        if (at::equal(padded.narrow(0, maximum - down, 7).narrow(1, maximum - across, 5), after[i]))
          moves.insert({down, across});
      }
  }
  EXPECT_EQ(moves.size(), 25U);
  // An image that is shifted out of the frame is black.
  LabelledBatch batch = images_of(64);
  augment(batch, {false, 1000}, black, 3, 0);
  EXPECT_GT(batch.values.eq(black).all(-1).sum().item<int64_t>(), 60 * 35);
}

}  // namespace
}  // namespace modewise::data
