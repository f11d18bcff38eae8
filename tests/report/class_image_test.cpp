#include "modewise/report/class_picture.h"

#include <gtest/gtest.h>

#include <vector>

namespace modewise::report {
namespace {

const std::vector<LegendClass> classes = {
    {"water", {0, 0, 200}}, {"bare, ground (2)", {200, 100, 0}}, {"Größe", {1, 2, 3}}};

TEST(ClassImage, PaintsEachClassAndLeavesTheRestWhite) {
  const std::vector<uint8_t> numbers = {0, 1, 255, 2, 1, 3};
  const Image figure = class_figure(3, 2, numbers, classes);
  EXPECT_EQ(figure.pixels, (std::vector<Color>{classes[0].color, classes[1].color, kNoClass, classes[2].color,
                                               classes[1].color, kNoClass}));
}

TEST(ClassImage, PutsTheLegendBesideTheMap) {
  const Image map = class_figure(7, 5, std::vector<uint8_t>(35, 0), classes);
  const Image figure = with_legend(map, classes);
  EXPECT_GT(figure.width, 7 + 16 * 6);
  EXPECT_GE(figure.height, 3 * 14);
  for (int64_t y = 0; y < 5; ++y)
    for (int64_t x = 0; x < 7; ++x)
      EXPECT_EQ(figure.pixels[static_cast<size_t>(y * figure.width + x)], classes[0].color);
  // The swatch of each class, and text next to it.
  for (size_t i = 0; i < classes.size(); ++i) {
    const int64_t y = 8 + static_cast<int64_t>(i) * 14 + 5;
    EXPECT_EQ(figure.pixels[static_cast<size_t>(y * figure.width + 7 + 8 + 5)], classes[i].color);
    int ink = 0;
    for (int64_t x = 7 + 8 + 14; x < figure.width; ++x)
      ink += figure.pixels[static_cast<size_t>(y * figure.width + x)] == Color{29, 33, 41};
    EXPECT_GT(ink, 3) << i;
  }
}

TEST(ClassImage, IsAPng) {
  const std::string png = to_png(class_figure(2, 1, std::vector<uint8_t>{0, 1}, classes));
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_EQ(png.substr(12, 4), "IHDR");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\0\2\0\0\0\1", 8));
  EXPECT_EQ(png.substr(24, 2), std::string("\x08\x02", 2));  // 8 bits, RGB
}

}  // namespace
}  // namespace modewise::report
