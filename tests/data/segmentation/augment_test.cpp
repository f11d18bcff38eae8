// Augmented windows: crops, resizing, flips and rotations; the source of each pixel.

#include "modewise/data/segmentation/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "modewise/data/segmentation/class_map.h"

namespace modewise::data {
namespace {

constexpr int64_t kHeight = 40, kWidth = 60;

/// Two dates whose two bands are a pixel's row and column (plus 1000 on the second date); labels encode the
/// position.
SceneWindow places() {
  SceneWindow tile(2, kHeight, kWidth, 2, true);
  for (int64_t t = 0; t < 2; ++t)
    for (int64_t row = 0; row < kHeight; ++row)
      for (int64_t column = 0; column < kWidth; ++column) {
        const auto pixel = static_cast<size_t>((t * kHeight + row) * kWidth + column);
        tile.image[2 * pixel] = static_cast<float>(row + 1000 * t);
        tile.image[2 * pixel + 1] = static_cast<float>(column + 1000 * t);
        tile.valid[pixel] = 1;
        if (t == 0) tile.labels[pixel] = static_cast<int16_t>(row * kWidth + column);
      }
  return tile;
}

SegmentationAugmentConfig cutting(double crop, double stretch) {
  SegmentationAugmentConfig config;
  config.crop = crop;
  config.stretch = stretch;
  config.flips = config.rotations = false;
  return config;
}

/// Source rows (band 0) or columns (band 1) of a resized window.
std::vector<double> line_of(const SceneWindow& window, size_t band) {
  std::vector<double> out;
  for (int64_t i = 0; i < window.height; ++i) {
    const int64_t pixel = band == 0 ? i * window.width + 3 : 3 * window.width + i;
    out.push_back(window.image[2 * static_cast<size_t>(pixel) + band]);
  }
  return out;
}

/// Distance of neighbours far from the tile's edge: crop length / window side.
double step_of(const std::vector<double>& line) {
  const size_t middle = line.size() / 2;
  return line[middle + 1] - line[middle];
}

/// Windows smaller and larger than their crops.
class SceneResize : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Sides, SceneResize, testing::Values(16, 75));

TEST_P(SceneResize, ShowsThePartThatWasCutOut) {
  const SceneWindow tile = places();
  const int64_t side = GetParam(), middle = side / 2;
  const auto length = static_cast<double>(side);
  double min_area = 9, max_area = 0, min_ratio = 9, max_ratio = 0;
  std::set<int64_t> tops, lefts;
  for (uint64_t place = 0; place < 300; ++place) {
    const SceneWindow window =
        augmented(tile, cutting(0.2, 1.5), side, {7, RandomSite::augmentation, 1}, place);
    const std::vector<double> rows = line_of(window, 0), columns = line_of(window, 1);
    const double height = length * step_of(rows), width = length * step_of(columns);
    // Evenly spaced centres of the window's pixels, clamped to the tile's outermost pixels.
    const double half = (static_cast<double>(middle) + 0.5) / length;
    const double top = rows[static_cast<size_t>(middle)] - half * height + 0.5,
                 left = columns[static_cast<size_t>(middle)] - half * width + 0.5;
    for (int64_t r = 0; r < side; ++r)
      for (int64_t c = 0; c < side; ++c) {
        const auto pixel = static_cast<size_t>(r * side + c);
        const double row = top + (static_cast<double>(r) + 0.5) * height / length - 0.5,
                     column = left + (static_cast<double>(c) + 0.5) * width / length - 0.5;
        ASSERT_EQ(window.valid[pixel], 1);
        EXPECT_NEAR(window.image[2 * pixel], std::clamp(row, 0.0, kHeight - 1.0), 2e-3);
        EXPECT_NEAR(window.image[2 * pixel + 1], std::clamp(column, 0.0, kWidth - 1.0), 2e-3);
        EXPECT_NEAR(window.image[2 * (static_cast<size_t>(side * side) + pixel)],
                    window.image[2 * pixel] + 1000, 2e-3);
        const int64_t label = window.labels[pixel];
        EXPECT_LE(std::abs(static_cast<double>(label / kWidth) - row), 0.51);
        EXPECT_LE(std::abs(static_cast<double>(label % kWidth) - column), 0.51);
      }
    EXPECT_GE(top, -0.01);
    EXPECT_LE(top + height, kHeight + 0.01);
    EXPECT_GE(left, -0.01);
    EXPECT_LE(left + width, kWidth + 0.01);
    tops.insert(std::lround(top)), lefts.insert(std::lround(left));
    const double area = height * width / (kHeight * kWidth), ratio = width / height;
    min_area = std::min(min_area, area), max_area = std::max(max_area, area);
    if (height < kHeight - 0.01 && width < kWidth - 0.01) {
      min_ratio = std::min(min_ratio, ratio), max_ratio = std::max(max_ratio, ratio);
    }
  }
  EXPECT_GE(min_area, 0.2 - 1e-3);
  EXPECT_LT(min_area, 0.22);
  EXPECT_LE(max_area, 1 + 1e-3);
  EXPECT_GT(max_area, 0.9);
  EXPECT_GE(min_ratio, 1 / 1.5 - 1e-3);
  EXPECT_LT(min_ratio, 0.7);
  EXPECT_LE(max_ratio, 1.5 + 1e-3);
  EXPECT_GT(max_ratio, 1.4);
  EXPECT_GT(tops.size(), 12U);
  EXPECT_GT(lefts.size(), 20U);
}

TEST(SceneAugment, ResizesAmongValidNeighboursAlone) {
  SceneWindow tile = places();
  for (int64_t row = 0; row < kHeight; ++row)
    for (int64_t column = 0; column < kWidth; ++column)
      for (int64_t t = 0; t < 2; ++t) {
        const auto pixel = static_cast<size_t>((t * kHeight + row) * kWidth + column);
        tile.valid[pixel] = column % 5 != 2;
        tile.image[2 * pixel] = tile.image[2 * pixel + 1] = column % 5 != 2 ? 3.0F : 1e6F;
      }
  int64_t valid = 0;
  for (uint64_t place = 0; place < 20; ++place) {
    const SceneWindow window =
        augmented(tile, cutting(0.2, 1.5), 16, {7, RandomSite::augmentation, 1}, place);
    for (size_t pixel = 0; pixel < 256; ++pixel) {
      EXPECT_EQ(window.valid[pixel], window.labels[pixel] % kWidth % 5 != 2);  // the nearest pixel's
      if (window.valid[pixel] == 1) {
        ++valid;
        EXPECT_NEAR(window.image[2 * pixel], 3, 1e-5);
      }
    }
  }
  EXPECT_GT(valid, 20 * 256 / 2);
}

/// Symmetries of a square among 400 windows, each as the positions of its corners.
std::set<std::vector<int16_t>> symmetries(bool flips, bool rotations) {
  SceneWindow tile(1, 5, 5, 1, true);
  for (size_t pixel = 0; pixel < 25; ++pixel) {
    tile.image[pixel] = static_cast<float>(pixel);
    tile.valid[pixel] = 1;
    tile.labels[pixel] = static_cast<int16_t>(pixel);
  }
  SegmentationAugmentConfig config;
  config.flips = flips;
  config.rotations = rotations;
  std::set<std::vector<int16_t>> seen;
  for (uint64_t place = 0; place < 400; ++place) {
    const SceneWindow window = augmented(tile, config, 5, {7, RandomSite::augmentation, 1}, place);
    for (size_t pixel = 0; pixel < 25; ++pixel)
      EXPECT_EQ(window.image[pixel], static_cast<float>(window.labels[pixel]));
    seen.insert({window.labels[0], window.labels[4], window.labels[20], window.labels[24]});
  }
  return seen;
}

TEST(SceneAugment, FlipsAndTurnsAsAsked) {
  using Corners = std::set<std::vector<int16_t>>;
  const Corners rotated = {{0, 4, 20, 24}, {20, 0, 24, 4}, {24, 20, 4, 0}, {4, 24, 0, 20}};
  const Corners flipped = {{0, 4, 20, 24}, {4, 0, 24, 20}, {20, 24, 0, 4}, {24, 20, 4, 0}};
  EXPECT_EQ(symmetries(false, false), (Corners{{0, 4, 20, 24}}));
  EXPECT_EQ(symmetries(false, true), rotated);
  EXPECT_EQ(symmetries(true, false), flipped);
  Corners all = rotated;
  all.insert(flipped.begin(), flipped.end());
  all.insert({0, 20, 4, 24});  // transposed
  all.insert({24, 4, 20, 0});
  EXPECT_EQ(symmetries(true, true), all);
}

TEST(SceneAugment, PutsWindowsEverywhereInATileAndSmallTilesEverywhereInAWindow) {
  SegmentationAugmentConfig config = cutting(1, 1);
  std::set<int16_t> corners;
  for (uint64_t place = 0; place < 400; ++place) {
    const SceneWindow window = augmented(places(), config, 37, {7, RandomSite::augmentation, 1}, place);
    for (int64_t r = 0; r < 37; ++r)
      for (int64_t c = 0; c < 37; ++c)
        ASSERT_EQ(window.labels[static_cast<size_t>(r * 37 + c)], window.labels[0] + r * kWidth + c);
    corners.insert(window.labels[0]);
  }
  EXPECT_EQ(corners.size(), 4U * 24U);  // 40 − 37 + 1 rows, 60 − 37 + 1 columns
  std::set<int64_t> tops;
  for (uint64_t place = 0; place < 200; ++place) {
    const SceneWindow window = augmented(places(), config, 43, {7, RandomSite::augmentation, 1}, place);
    const auto begin = std::find_if(window.labels.begin(), window.labels.end(),
                                    [](int16_t label) { return label != ClassMap::ignored; });
    const int64_t top = (begin - window.labels.begin()) / 43;
    tops.insert(top);
    EXPECT_EQ(std::count(window.valid.begin(), window.valid.end(), 1), 2 * 40 * 43);
  }
  EXPECT_EQ(tops, (std::set<int64_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace modewise::data
