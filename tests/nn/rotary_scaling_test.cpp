// Frequencies of the rotary embedding, level by level, against their formulas.

#include "modewise/nn/embedding/rotary_scaling.h"

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "modewise/core/error.h"
#include "tests/error_of.h"

namespace modewise::nn {
namespace {

TEST(RotaryScaling, EachLevelHasItsOwnRow) {
  const RotaryScaling linear{.base = 10000, .kind = "linear", .factor = 4};
  const RotaryScaling none{.base = 10000, .kind = "none", .factor = 4};
  const ops::RotaryEmbedding code = rotary_embedding({none, linear, none}, 4);
  ASSERT_EQ(code.frequencies.sizes().vec(), (std::vector<int64_t>{3, 2}));
  for (int64_t level = 0; level < 3; ++level) {
    const double factor = level == 1 ? 4 : 1;
    EXPECT_EQ(code.frequencies[level][0].item<double>(), 1 / factor) << level;
    EXPECT_DOUBLE_EQ(code.frequencies[level][1].item<double>(), 0.01 / factor) << level;
  }
  EXPECT_EQ(code.gains, (std::vector<double>{1, 1, 1}));
}

TEST(RotaryScaling, ALevelHasItsOwnLengthAndFactor) {
  for (const char* kind : {"yarn", "llama3"}) {
    const RotaryScaling scaling{.base = 10, .kind = kind, .factor = 4, .original_length = 2048};
    const RotaryScaling grown = level_scaling(scaling, 8, 24);
    EXPECT_EQ(grown.kind, kind);
    EXPECT_EQ(grown.original_length, 8);
    EXPECT_EQ(grown.factor, 3);
    EXPECT_EQ(level_scaling(scaling, 8, 8).kind, "none");
  }
  const RotaryScaling linear{.base = 10, .kind = "linear", .factor = 4};
  EXPECT_EQ(level_scaling(linear, 8, 8).kind, "linear");
  EXPECT_EQ(level_scaling(linear, 8, 8).factor, 4);
}

// Within 6 positions no pair completes a rotation (fastest: 6 / 2π = 0.95): all are interpolated (YaRN, Eq.
// 20).
TEST(RotaryScaling, YarnInterpolatesAllPairsOfFewPositions) {
  const RotaryScaling scaling{.base = 10, .kind = "yarn", .factor = 4, .original_length = 2048};
  const std::vector<double> frequencies = rotary_frequencies(level_scaling(scaling, 6, 24), 8);
  for (int i = 0; i < 4; ++i)
    EXPECT_DOUBLE_EQ(frequencies[static_cast<size_t>(i)], std::pow(10.0, -i / 4.0) / 4) << i;
  EXPECT_FALSE(level_scaling(scaling, 7, 28).divide_all);  // 7 / 2π is above 1
}

// base · factor^(d / (d − 2)): 100 · 4² for d = 4.
TEST(RotaryScaling, NtkStretchesTheBase) {
  const std::vector<double> frequencies = rotary_frequencies({.base = 100, .kind = "ntk", .factor = 4}, 4);
  ASSERT_EQ(frequencies.size(), 2u);
  EXPECT_EQ(frequencies[0], 1);
  EXPECT_DOUBLE_EQ(frequencies[1], 1.0 / 40);
}

// Pair i rotates by 10^(−i/4) per token. Within 2048 tokens, dimension 8 ln(2048 / 2π t) / (2 ln 10) rotates
// t times: −1.9 for t = 1000 and 10.05 for t = 1, so the ramp goes from 0 to the last dimension, 7.
TEST(RotaryScaling, YarnsRampEndsAtTheLastDimension) {
  const std::vector<double> frequencies = rotary_frequencies(
      {.base = 10, .kind = "yarn", .factor = 4, .original_length = 2048, .beta_fast = 1000, .beta_slow = 1},
      8);
  ASSERT_EQ(frequencies.size(), 4u);
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(frequencies[static_cast<size_t>(i)], std::pow(10.0, -i / 4.0) * (i / 7.0 / 4 + 1 - i / 7.0),
                1e-15);
}

// Dimension 16 ln(64 / 2π t) / (2 ln 10^4) rotates t times: 1.414 for t = 2 and 2.618 for t = 0.5.
TEST(RotaryScaling, YarnsRampMayEndBetweenDimensions) {
  RotaryScaling scaling{
      .base = 10000, .kind = "yarn", .factor = 4, .original_length = 64, .beta_fast = 2, .beta_slow = 0.5};
  const auto dimension = [](double rotations) {
    return 16 * std::log(64 / (2 * std::numbers::pi * rotations)) / (2 * std::log(10000.0));
  };
  const auto expect_ramp = [&](double low, double high) {
    const std::vector<double> frequencies = rotary_frequencies(scaling, 16);
    ASSERT_EQ(frequencies.size(), 8U);
    for (int i = 0; i < 8; ++i) {
      const double ramp = i <= low ? 0 : i >= high ? 1 : (i - low) / (high - low);
      EXPECT_NEAR(frequencies[static_cast<size_t>(i)], std::pow(10000.0, -i / 8.0) * (1 - ramp * 0.75), 1e-15)
          << i;
    }
  };
  expect_ramp(1, 3);
  scaling.truncate = false;
  expect_ramp(dimension(2), dimension(0.5));
  scaling.beta_slow = 2;  // no ramp at all
  expect_ramp(dimension(2), dimension(2));
}

// Wavelengths 2π, 20π, 200π and 2000π against 100 / 4 and 100 / 1.
TEST(RotaryScaling, Llama3StretchesLongWavesAlone) {
  const std::vector<double> frequencies = rotary_frequencies({.base = 10000,
                                                              .kind = "llama3",
                                                              .factor = 8,
                                                              .original_length = 100,
                                                              .low_frequency_factor = 1,
                                                              .high_frequency_factor = 4},
                                                             8);
  ASSERT_EQ(frequencies.size(), 4U);
  const double smooth = (100 / (20 * std::numbers::pi) - 1) / 3;
  EXPECT_EQ(frequencies[0], 1);
  EXPECT_DOUBLE_EQ(frequencies[1], 0.1 * (smooth + (1 - smooth) / 8));
  EXPECT_DOUBLE_EQ(frequencies[2], 0.01 / 8);
  EXPECT_DOUBLE_EQ(frequencies[3], 0.001 / 8);
}

TEST(RotaryScaling, OnlyYarnHasAGain) {
  EXPECT_EQ(rotary_gain({.base = 10, .kind = "linear", .factor = 4}), 1);
  EXPECT_DOUBLE_EQ(rotary_gain({.base = 10, .kind = "yarn", .factor = 4}), 0.1 * std::log(4.0) + 1);
  EXPECT_EQ(rotary_gain({.base = 10, .kind = "yarn", .factor = 1}), 1);
  EXPECT_EQ(rotary_gain({.base = 10, .kind = "yarn", .factor = 4, .gain = 1.5}), 1.5);
  EXPECT_NO_THROW(rotary_frequencies({.base = 10, .kind = "none"}, 4));
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { rotary_frequencies({.base = 10, .kind = "other"}, 4); }),
            "unknown rotary scaling 'other'");
}

}  // namespace
}  // namespace modewise::nn
