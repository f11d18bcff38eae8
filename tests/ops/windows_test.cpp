// What the taps of a kernel see from each position.

#include "modewise/ops/cpu/windows.h"

#include <gtest/gtest.h>

namespace modewise::ops {
namespace {

TEST(Windows, ThatSeeTheCellOfTheSamePlaceAreKnown) {
  const ModeWindows three{3, 1, {0, 1, 2}}, two{2, 1, {0, 1}};
  EXPECT_TRUE(Windows({three, two}, {3, 2}, 5).identity());
  EXPECT_FALSE(Windows({{3, 1, {0, 2, 1}}, two}, {3, 2}, 5).identity());
  EXPECT_FALSE(Windows({three, {2, 1, {1, -1}}}, {3, 2}, 5).identity());
  EXPECT_FALSE(Windows({{2, 1, {0, 1}}, two}, {3, 2}, 5).identity());  // the last cell is seen by none
  EXPECT_FALSE(Windows({three, {2, 2, {0, 1, 1, -1}}}, {3, 2}, 5).identity());  // two taps
}

// Sample s holds 100 s + 10 row + column; rows are read as they are, columns by two taps that see a step to
// either side.
TEST(Windows, GatherTheCellsOfTheTapsAndZerosBeyondTheEdge) {
  std::vector<float> x;
  for (int sample = 0; sample < 2; ++sample)
    for (int row = 0; row < 2; ++row)
      for (int column = 0; column < 3; ++column)
        x.push_back(static_cast<float>(100 * sample + 10 * row + column + 1));
  const Windows windows({{2, 1, {0, 1}}, {3, 2, {-1, 1, 0, 2, 1, -1}}}, {2, 3}, 1);
  EXPECT_EQ(windows.rows(), 6);
  EXPECT_EQ(windows.depth(), 2);
  std::vector<float> out(24);
  windows.gather(x.data(), 0, 12, out.data());
  EXPECT_EQ(out, (std::vector<float>{0, 2,   1,   3,   2,   0, 0, 12,  11,  13,  12,  0,
                                     0, 102, 101, 103, 102, 0, 0, 112, 111, 113, 112, 0}));
  for (int64_t first = 0; first < 2; ++first) {
    std::vector<float> taps(12), wanted;
    windows.gather_part(x.data(), 0, 12, first, 1, taps.data());
    for (size_t row = 0; row < 12; ++row) wanted.push_back(out[2 * row + static_cast<size_t>(first)]);
    EXPECT_EQ(taps, wanted);
  }
  std::vector<float> part(4);
  windows.gather(x.data(), 4, 6, part.data());
  EXPECT_EQ(part, (std::vector<float>{11, 13, 12, 0}));
}

}  // namespace
}  // namespace modewise::ops
