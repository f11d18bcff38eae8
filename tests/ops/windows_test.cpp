// What the taps of a kernel see from each position.

#include "modewise/ops/cpu/windows.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

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

/// Row by row and element by element, as the header says it.
std::vector<float> gathered(const std::vector<float>& x, const std::vector<ModeWindows>& modes,
                            const std::vector<int64_t>& sizes, int64_t channels, int64_t samples) {
  int64_t rows = 1, taps = 1, cells = 1;
  for (size_t i = 0; i < modes.size(); ++i) {
    rows *= modes[i].positions;
    taps *= modes[i].taps;
    cells *= sizes[i];
  }
  std::vector<float> out;
  for (int64_t row = 0; row < samples * rows; ++row)
    for (int64_t column = 0; column < taps * channels; ++column) {
      int64_t place = row % rows, tap = column / channels, cell = 0, step = 1;
      bool inside = true;
      for (size_t i = modes.size(); i-- > 0;) {
        const ModeWindows& mode = modes[i];
        const int64_t seen =
            mode.source[static_cast<size_t>(place % mode.positions * mode.taps + tap % mode.taps)];
        inside = inside && seen >= 0;
        cell += seen * step;
        step *= sizes[i];
        place /= mode.positions;
        tap /= mode.taps;
      }
      const int64_t at = (row / rows * cells + cell) * channels + column % channels;
      out.push_back(inside ? x[static_cast<size_t>(at)] : 0);
    }
  return out;
}

/// Every rectangle of the matrix: three samples of 2 × 3 × 4 cells.
void expect_gathered(const ModeWindows& last, int64_t channels) {
  const std::vector<ModeWindows> modes = {{3, 2, {-1, 1, 0, -1, 1, 0}}, {2, 1, {2, 1}}, last};
  const std::vector<int64_t> sizes = {2, 3, 4};
  std::vector<float> x(static_cast<size_t>(3 * 24 * channels));
  std::iota(x.begin(), x.end(), 1.0F);
  const Windows windows(modes, sizes, channels);
  const int64_t rows = 3 * windows.rows(), depth = windows.depth();
  ASSERT_EQ(rows, 54);
  ASSERT_EQ(depth, 6 * channels);
  const std::vector<float> whole = gathered(x, modes, sizes, channels, 3);
  for (int64_t begin = 0; begin < rows; begin += 5)
    for (int64_t end = begin + 1; end <= rows; end += 7)
      for (int64_t first = 0; first < depth; first += 1 + channels / 4)
        for (int64_t count = 1; first + count <= depth; count += 1 + channels / 3) {
          std::vector<float> part(static_cast<size_t>((end - begin) * count) + 1, 77), wanted;
          windows.gather(x.data(), begin, end, first, count, part.data());
          for (int64_t row = begin; row < end; ++row)
            wanted.insert(wanted.end(), whole.begin() + row * depth + first,
                          whole.begin() + row * depth + first + count);
          wanted.push_back(77);  // what lies behind is left alone
          ASSERT_EQ(part, wanted) << channels << " " << begin << " " << end << " " << first << " " << count;
        }
}

// Channels of less and of more than what is copied at once.
TEST(Windows, GatherTheCellsOfTheTapsAndZerosBeyondTheEdge) {
  for (const int64_t channels : {1, 3, 21}) {
    expect_gathered({3, 3, {-1, 0, 1, 0, 1, 2, 2, 3, -1}}, channels);  // neighbours
    expect_gathered({3, 3, {-1, -1, 0, -1, -1, -1, 3, -1, -1}}, channels);
    expect_gathered({3, 3, {-1, 0, 1, 1, 2, 3, 3, -1, 0}}, channels);   // something between them
    expect_gathered({3, 3, {-1, 0, 1, 1, 2, 3, 3, 1, 0}}, channels);    // another order
    expect_gathered({3, 3, {-1, 0, 2, 0, 2, -1, 1, 3, -1}}, channels);  // every other cell
  }
}

}  // namespace
}  // namespace modewise::ops
