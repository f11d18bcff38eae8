// Augmentations of series one at a time: all possible results of a sample occur, and no others.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "modewise/core/random.h"
#include "modewise/data/series_classification/series_collection.h"

namespace modewise::data {
namespace {

constexpr int64_t kSamples = 200, kSteps = 20;

/// Samples of two variables, 1, 2 … and −1, −2 …
LabelledBatch ramps() {
  LabelledBatch batch;
  batch.values = at::arange(1, kSteps + 1, at::kFloat).view({1, 1, kSteps}).repeat({kSamples, 2, 1});
  batch.values.select(1, 1).neg_();
  return batch;
}

LabelledBatch augmented(const SeriesAugmentConfig& config, LabelledBatch batch = ramps()) {
  augment(batch, config, 5, 3);
  return batch;
}

float value(const LabelledBatch& batch, int64_t i, int64_t variable, int64_t t) {
  return batch.values[i][variable][t].item<float>();
}

TEST(SeriesVariation, ShiftsWholeSamplesAndRepeatsTheirEnds) {
  SeriesAugmentConfig config;
  config.shift = 3;
  const LabelledBatch batch = augmented(config);
  std::set<int64_t> shifts;
  for (int64_t i = 0; i < kSamples; ++i) {
    const auto shift = 10 - static_cast<int64_t>(value(batch, i, 0, 9));
    shifts.insert(shift);
    for (int64_t t = 0; t < kSteps; ++t) {
      const auto wanted = static_cast<float>(1 + std::clamp<int64_t>(t - shift, 0, kSteps - 1));
      EXPECT_EQ(value(batch, i, 0, t), wanted);
      EXPECT_EQ(value(batch, i, 1, t), -wanted);
    }
  }
  EXPECT_EQ(shifts, (std::set<int64_t>{-3, -2, -1, 0, 1, 2, 3}));
}

TEST(SeriesVariation, ScalesASampleByOneFactor) {
  SeriesAugmentConfig config;
  config.scale = 0.3;
  const at::Tensor factors = augmented(config).values / ramps().values;
  EXPECT_LT((factors - factors.narrow(1, 0, 1).narrow(2, 0, 1)).abs().max().item<double>(), 1e-6);
  EXPECT_GE(factors.min().item<double>(), 0.7 - 1e-6);
  EXPECT_LT(factors.min().item<double>(), 0.72);
  EXPECT_LE(factors.max().item<double>(), 1.3 + 1e-6);
  EXPECT_GT(factors.max().item<double>(), 1.28);
}

TEST(SeriesVariation, AddsNoiseOfItsOwnToEachStep) {
  SeriesAugmentConfig config;
  config.noise = 0.5;
  const at::Tensor noise = augmented(config).values - ramps().values;
  const auto count = static_cast<double>(noise.numel());  // four standard errors either way
  EXPECT_NEAR(noise.mean().item<double>(), 0, 4 * 0.5 / std::sqrt(count));
  EXPECT_NEAR(noise.std().item<double>(), 0.5, 4 * 0.5 / std::sqrt(2 * count));
  const at::Tensor between = (noise.select(1, 0) * noise.select(1, 1)).mean();  // variables are independent
  EXPECT_NEAR(between.item<double>(), 0, 4 * 0.25 / std::sqrt(count / 2));
  const at::Tensor next = (noise.narrow(2, 1, kSteps - 1) * noise.narrow(2, 0, kSteps - 1)).mean();
  EXPECT_NEAR(next.item<double>(), 0, 4 * 0.25 / std::sqrt(count));
}

TEST(SeriesVariation, ErasesOnePieceOfAllVariables) {
  SeriesAugmentConfig config;
  config.erase = 0.5;
  const LabelledBatch batch = augmented(config);
  std::set<int64_t> lengths, begins;
  for (int64_t i = 0; i < kSamples; ++i) {
    int64_t erased = 0, begin = -1;
    for (int64_t t = 0; t < kSteps; ++t) {
      const bool zero = value(batch, i, 0, t) == 0;
      EXPECT_EQ(value(batch, i, 0, t), zero ? 0 : static_cast<float>(t + 1));
      EXPECT_EQ(value(batch, i, 1, t), -value(batch, i, 0, t));
      if (zero && begin < 0) begin = t;
      if (zero) {
        EXPECT_EQ(t, begin + erased++);  // contiguous
      }
    }
    lengths.insert(erased);
    if (erased > 0) begins.insert(begin);
  }
  EXPECT_EQ(lengths, (std::set<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));  // half of 20 steps is never reached
  EXPECT_GT(begins.size(), 15U);
  EXPECT_EQ(*begins.begin(), 0);
}

TEST(SeriesVariation, FollowsItsDrawsOneByOne) {
  const SeriesAugmentConfig config = {0.25, 0.3, 3, 0.5};
  const LabelledBatch batch = augmented(config);
  const RandomStream choices{5, RandomSite::augmentation, 6}, noise{5, RandomSite::augmentation, 7};
  for (uint64_t i = 0; i < 20; ++i) {
    const auto uniform = [&](uint64_t what) { return choices.uniform(8 * i + what); };
    const double factor = 1 + 0.3 * (2 * uniform(0) - 1);
    const auto shift = static_cast<int64_t>(7 * uniform(1)) - 3,
               erased = static_cast<int64_t>(0.5 * uniform(2) * kSteps),
               begin = static_cast<int64_t>(uniform(3) * static_cast<double>(kSteps - erased + 1));
    for (int64_t v = 0; v < 2; ++v)
      for (int64_t t = 0; t < kSteps; ++t) {
        const double x =
            static_cast<double>(1 + std::clamp<int64_t>(t - shift, 0, kSteps - 1)) * (v == 0 ? 1 : -1);
        const uint64_t cell = (i * 2 + static_cast<uint64_t>(v)) * kSteps + static_cast<uint64_t>(t);
        const double wanted = t >= begin && t < begin + erased ? 0 : factor * x + 0.25 * noise.normal(cell);
        EXPECT_NEAR(value(batch, static_cast<int64_t>(i), v, t), wanted, 1e-5) << i << " " << t;
      }
  }
}

TEST(SeriesVariation, IsAskedForByAnyOfItsFields) {
  EXPECT_FALSE(SeriesAugmentConfig().any());
  for (const SeriesAugmentConfig& config :
       {SeriesAugmentConfig{0.1, 0, 0, 0}, {0, 0.1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0.1}})
    EXPECT_TRUE(config.any());
}

TEST(SeriesVariation, KnowsWhereAPaddedSampleEnds) {
  LabelledBatch padded = ramps();
  padded.valid = at::ones({kSamples, kSteps}, at::kBool);
  padded.valid.narrow(1, 7, kSteps - 7).fill_(false);
  padded.values.narrow(2, 7, kSteps - 7).zero_();
  SeriesAugmentConfig config;
  config.shift = 3;
  const LabelledBatch batch = augmented(config, padded);
  for (int64_t i = 0; i < kSamples; ++i) {
    EXPECT_GE(value(batch, i, 0, 6), 4);  // its own last values, not the padding
    EXPECT_EQ(value(batch, i, 0, 7), 0);
  }
}

}  // namespace
}  // namespace modewise::data
