// Frequencies of rotary codes, level by level, against their formulas.

#include "modewise/nn/rotary_scaling.h"

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace modewise::nn
