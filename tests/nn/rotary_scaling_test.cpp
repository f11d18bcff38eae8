// Frequencies of rotary codes, level by level, against their formulas.

#include "modewise/nn/rotary_scaling.h"

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cmath>

namespace modewise::nn {
namespace {

TEST(RotaryScaling, StretchesTheChosenLevelAlone) {
  const RotaryScaling scaling{.base = 10000, .kind = "linear", .factor = 4};
  for (const int64_t scaled : {-1, 0, 1, 2}) {
    const ops::RotaryCode code = rotary_code(scaling, 4, 3, scaled);
    ASSERT_EQ(code.frequencies.sizes().vec(), (std::vector<int64_t>{3, 2}));
    for (int64_t level = 0; level < 3; ++level) {
      const double factor = scaled == -1 || scaled == level ? 4 : 1;
      EXPECT_EQ(code.frequencies[level][0].item<double>(), 1 / factor) << scaled << " " << level;
      EXPECT_DOUBLE_EQ(code.frequencies[level][1].item<double>(), 0.01 / factor) << scaled << " " << level;
    }
    EXPECT_EQ(code.gains, (std::vector<double>{1, 1, 1}));
  }
}

// base · factor^(d / (d − 2)): 100 · 4² for d = 4.
TEST(RotaryScaling, NtkStretchesTheBase) {
  const std::vector<double> frequencies = rotary_frequencies({.base = 100, .kind = "ntk", .factor = 4}, 4);
  ASSERT_EQ(frequencies.size(), 2u);
  EXPECT_EQ(frequencies[0], 1);
  EXPECT_DOUBLE_EQ(frequencies[1], 1.0 / 40);
}

// Pairs turn 10^(−i/4). Of 2048 tokens, a dimension 8 ln(2048 / 2π t) / (2 ln 10) turns t times: −1.9 for t =
// 1000 and 10.05 for t = 1, so that the ramp goes from 0 to the last dimension, 7.
TEST(RotaryScaling, YarnsRampEndsAtTheLastDimension) {
  const std::vector<double> frequencies = rotary_frequencies(
      {.base = 10, .kind = "yarn", .factor = 4, .original_length = 2048, .beta_fast = 1000, .beta_slow = 1},
      8);
  ASSERT_EQ(frequencies.size(), 4u);
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(frequencies[static_cast<size_t>(i)], std::pow(10.0, -i / 4.0) * (i / 7.0 / 4 + 1 - i / 7.0),
                1e-15);
}

}  // namespace
}  // namespace modewise::nn
