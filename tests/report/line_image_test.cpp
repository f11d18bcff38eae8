#include "modewise/report/line_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "modewise/core/file.h"
#include "modewise/io/images/png.h"

namespace modewise::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr Color kInk = {10, 20, 30}, kBlue = {0, 0, 200};

/// One letter per pixel: '.' background, '#' ink, 'b' blue.
std::vector<std::string> rows_of(const std::string& png) {
  const io::Image figure = io::parse_png(as_bytes(png), "picture");
  std::vector<std::string> rows(static_cast<size_t>(figure.height));
  for (int64_t y = 0; y < figure.height; ++y)
    for (int64_t x = 0; x < figure.width; ++x) {
      const uint8_t* at = figure.pixels.data() + (y * figure.width + x) * 3;
      const Color color = {at[0], at[1], at[2]};
      rows[static_cast<size_t>(y)] += color == kInk                   ? '#'
                                      : color == kBlue                ? 'b'
                                      : color == Color{255, 255, 255} ? '.'
                                                                      : '?';
    }
  return rows;
}

using testing::ElementsAre;

TEST(LineImage, GoesFromCornerToCorner) {
  EXPECT_THAT(rows_of(line_figure(5, 5, {}, {{0, {0, 1, 2}, kInk}})),
              ElementsAre("....#", "...##", "..##.", ".##..", "##..."));
}

TEST(LineImage, BreaksWhereValuesAreMissing) {
  EXPECT_THAT(rows_of(line_figure(7, 3, {}, {{0, {2, 2, kNone, 0, 0, kNone, 1}, kInk}})),
              ElementsAre("##.....", ".......", "...##.."));
}

TEST(LineImage, BeginsAtItsFirstPoint) {
  EXPECT_THAT(rows_of(line_figure(5, 3, {}, {{0, {0, 0, 0}, kInk}, {2, {2, 2, 2}, kBlue}})),
              ElementsAre("..bbb", ".....", "###.."));
}

TEST(LineImage, DrawsThickCurvesDownwards) {
  EXPECT_THAT(rows_of(line_figure(3, 4, {}, {{0, {3, 0, 0}, kInk, 2}})),
              ElementsAre("##.", "##.", ".#.", ".##"));
}

TEST(LineImage, FillsBandsUnderCurves) {
  EXPECT_THAT(rows_of(line_figure(3, 5, {{0, {1, 1, 0}, {3, 3, 4}, kBlue}}, {{0, {2, 2, 2}, kInk}})),
              ElementsAre("..b", "bbb", "###", "bbb", "..b"));
}

TEST(LineImage, OfNothingIsEmptyAndOfOneHeightLevel) {
  EXPECT_THAT(rows_of(line_figure(3, 2, {}, {})), ElementsAre("...", "..."));
  EXPECT_THAT(rows_of(line_figure(3, 2, {}, {{0, {kNone, kNone}, kInk}})), ElementsAre("...", "..."));
  EXPECT_THAT(rows_of(line_figure(3, 3, {}, {{0, {7, 7}, kInk}})), ElementsAre("...", "...", "###"));
}

}  // namespace
}  // namespace modewise::report
