// Block split of a scene: grid, splits, guard.

#include "modewise/data/segmentation/blocks.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/random.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::HasSubstr;

int64_t distance(const PixelRect& a, const PixelRect& b) {  // pixels between; 0: adjacent or overlapping
  const auto gap = [](int64_t from, int64_t size, int64_t other, int64_t other_size) {
    return std::max<int64_t>({0, other - (from + size), from - (other + other_size)});
  };
  return std::max(gap(a.row, a.height, b.row, b.height), gap(a.column, a.width, b.column, b.width));
}

TEST(SceneBlocks, NeverLetAPixelOfOneSplitComeNearAnothers) {
  for (const int64_t guard : {0, 1, 5})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const BlockRequest request{101, 67, 7, 5, 32, 0.2, 0.3, guard, seed, "scene"};
      const BlockSplit split = split_blocks(request, {});
      size_t blocks = 0;
      for (const auto& areas : split.areas) blocks += areas.size();
      EXPECT_EQ(blocks, 35u);
      EXPECT_EQ(split.areas[2].size(), 11u);
      EXPECT_EQ(split.areas[1].size(), 7u);
      for (size_t a = 0; a < 3; ++a)
        for (size_t b = a + 1; b < 3; ++b)
          for (const PixelRect& one : split.areas[a])
            for (const PixelRect& other : split.areas[b]) EXPECT_GE(distance(one, other), guard);
    }
}

TEST(SceneBlocks, CoverTheSceneOnceWithoutAGuard) {
  const BlockRequest request{33, 31, 3, 4, 8, 0.2, 0.2, 0, 3, "scene"};
  std::vector<int> seen(33 * 31, 0);
  for (const auto& areas : split_blocks(request, {}).areas)
    for (const PixelRect& area : areas)
      for (int64_t row = area.row; row < area.row + area.height; ++row)
        for (int64_t column = area.column; column < area.column + area.width; ++column)
          ++seen[static_cast<size_t>(row * 31 + column)];
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 33 * 31);
}

TEST(SceneBlocks, GiveEachSplitItsShareOfRareClasses) {
  // Class 1 is only in 3 of 16 blocks: a random split often lacks it.
  std::vector<std::vector<int64_t>> histograms(16, {100, 0});
  for (const size_t block : {2u, 7u, 13u}) histograms[block] = {60, 40};
  const BlockRequest request{64, 64, 4, 4, 16, 0.2, 0.2, 0, 0, "scene"};
  const BlockSplit split = split_blocks(request, histograms);
  std::array<int64_t, 3> rare{};
  for (size_t block = 0; block < 16; ++block)
    rare[static_cast<size_t>(split.assignment[block])] += histograms[block][1];
  for (const int64_t pixels : rare) EXPECT_EQ(pixels, 40);
}

TEST(SceneBlocks, RefuseWhatLeavesNothing) {
  EXPECT_THAT(error_of(ErrorKind::data,
                       [] {
                         split_blocks({10, 10, 1, 2, 4, 0.2, 0.2, 0, 0, "small.tif"}, {});
                       }),
              HasSubstr("small.tif: 1 × 2 blocks are too few"));
  EXPECT_THAT(error_of(ErrorKind::data,
                       [] {
                         split_blocks({12, 12, 3, 3, 4, 0.2, 0.2, 9, 0, "small.tif"}, {});
                       }),
              HasSubstr("a guard of 9 pixels leaves no pixel"));
}

TEST(SceneBlocks, ChooseAGridThatHoldsWindows) {
  const auto grid = [](int64_t height, int64_t width, int64_t window, int64_t guard) {
    BlockRequest request;
    request.height = height, request.width = width, request.window = window, request.guard = guard;
    return chosen_grid(request);
  };
  using Grid = std::pair<int64_t, int64_t>;
  EXPECT_EQ(grid(600, 600, 64, 0), (Grid{6, 6}));      // 36 blocks of 100 pixels
  EXPECT_EQ(grid(600, 1200, 64, 0), (Grid{4, 8}));     // of 141
  EXPECT_EQ(grid(6000, 6000, 64, 0), (Grid{23, 23}));  // at most four windows a side: 256
  EXPECT_EQ(grid(600, 600, 64, 28), (Grid{5, 5}));     // at least a window and two guards: 120
  EXPECT_EQ(grid(200, 100, 64, 0), (Grid{3, 2}));      // 3 × 1 are too few: longer blocks are cut
  EXPECT_EQ(grid(100, 100, 64, 0), (Grid{2, 2}));
  EXPECT_EQ(grid(100, 300, 64, 0), (Grid{1, 4}));
  EXPECT_EQ(grid(1, 400000, 1, 0), (Grid{1, 1000}));
}

TEST(SceneBlocks, CutNoMoreThanTheirGuardNeeds) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    BlockRequest request{101, 67, 7, 5, 32, 0.2, 0.3, 2, seed, "scene"};
    const BlockSplit split = split_blocks(request, {});
    for (int64_t row = 0; row < 7; ++row)
      for (int64_t column = 0; column < 5; ++column) {
        const PixelRect whole = block_area(request, row, column);
        EXPECT_EQ(whole.row, row * 101 / 7);
        EXPECT_EQ(whole.column, column * 67 / 5);
        const auto own = static_cast<size_t>(split.assignment[static_cast<size_t>(row * 5 + column)]);
        const auto found =
            std::find_if(split.areas[own].begin(), split.areas[own].end(), [&](const PixelRect& a) {
              return a.row >= whole.row && a.row < whole.row + whole.height && a.column >= whole.column &&
                     a.column < whole.column + whole.width;
            });
        ASSERT_NE(found, split.areas[own].end());
        PixelRect up = *found, down = *found, left = *found, right = *found;
        up.height += up.row - whole.row, up.row = whole.row;
        down.height = whole.row + whole.height - down.row;
        left.width += left.column - whole.column, left.column = whole.column;
        right.width = whole.column + whole.width - right.column;
        for (const PixelRect& larger : {up, down, left, right}) {
          if (larger == *found) continue;
          bool too_near = false;
          for (int64_t r = 0; r < 7; ++r)
            for (int64_t c = 0; c < 5; ++c)
              too_near =
                  too_near || (static_cast<size_t>(split.assignment[static_cast<size_t>(r * 5 + c)]) > own &&
                               distance(larger, block_area(request, r, c)) < 2);
          EXPECT_TRUE(too_near) << row << " " << column;
        }
      }
  }
}

TEST(SceneBlocks, TakeTheMostEvenOf256Deals) {
  const BlockRequest request{40, 60, 2, 3, 8, 0.2, 0.2, 0, 4, "scene"};
  const std::vector<std::vector<int64_t>> histograms = {{9, 1}, {5, 5}, {0, 7}, {3, 3}, {8, 0}, {2, 6}};
  const auto uneven = [&](const std::vector<SceneSplit>& deal) {
    double result = 0;
    for (const SceneSplit split : {SceneSplit::train, SceneSplit::validation, SceneSplit::test}) {
      double counts[2] = {0, 0};
      for (size_t i = 0; i < 6; ++i)
        if (deal[i] == split)
          for (size_t c = 0; c < 2; ++c) counts[c] += static_cast<double>(histograms[i][c]);
      const double all = counts[0] + counts[1];  // 27 and 22 of 49 in the scene
      result += std::abs(std::sqrt(counts[0] / all) - std::sqrt(27.0 / 49)) +
                std::abs(std::sqrt(counts[1] / all) - std::sqrt(22.0 / 49));
    }
    return result;
  };
  std::vector<SceneSplit> best;
  for (uint64_t trial = 0; trial < 256; ++trial) {
    const auto order = random_permutation(6, {4, RandomSite::splits, trial});
    std::vector<SceneSplit> deal(6, SceneSplit::train);
    deal[static_cast<size_t>(order[0])] = SceneSplit::test;  // 0.2 × 6, rounded
    deal[static_cast<size_t>(order[1])] = SceneSplit::validation;
    if (best.empty() || uneven(deal) < uneven(best)) best = deal;
  }
  const BlockSplit split = split_blocks(request, histograms);
  EXPECT_EQ(split.assignment, best);
  EXPECT_EQ(split.rows, 2);
  EXPECT_EQ(split.columns, 3);
  BlockRequest small = request;
  small.validation = small.test = 0.01;  // one block at least
  EXPECT_EQ(split_blocks(small, {}).areas[1].size(), 1U);
  small.validation = 0;
  EXPECT_EQ(split_blocks(small, {}).areas[1].size(), 0U);
  small.validation = 0.5, small.test = 0.5;
  EXPECT_EQ(error_of(ErrorKind::data, [&] { split_blocks(small, {}); }),
            "scene: 2 × 3 blocks are too few for training, 3 validation and 3 test blocks");
  small = request;
  small.guard = 20;  // as many as a block has rows and columns
  EXPECT_THAT(error_of(ErrorKind::data, [&] { split_blocks(small, {}); }),
              HasSubstr("scene: a guard of 20 pixels leaves no pixel of the block at row "));
}

}  // namespace
}  // namespace modewise::data
