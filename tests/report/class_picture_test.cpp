#include "modewise/report/class_picture.h"

#include <gtest/gtest.h>

#include <vector>

namespace modewise::report {
namespace {

const std::vector<LegendClass> classes = {
    {"water", {0, 0, 200}}, {"bare, ground (2)", {200, 100, 0}}, {"Größe", {1, 2, 3}}};

TEST(ClassPicture, PaintsEachClassAndLeavesTheRestWhite) {
  const std::vector<uint8_t> numbers = {0, 1, 255, 2, 1, 3};
  const Picture picture = class_picture(3, 2, numbers, classes);
  EXPECT_EQ(picture.pixels, (std::vector<Color>{classes[0].color, classes[1].color, kNoClass,
                                                classes[2].color, classes[1].color, kNoClass}));
}

TEST(ClassPicture, PutsTheLegendBesideTheMap) {
  const Picture map = class_picture(7, 5, std::vector<uint8_t>(35, 0), classes);
  const Picture picture = with_legend(map, classes);
  EXPECT_GT(picture.width, 7 + 16 * 6);
  EXPECT_GE(picture.height, 3 * 14);
  for (int64_t y = 0; y < 5; ++y)
    for (int64_t x = 0; x < 7; ++x)
      EXPECT_EQ(picture.pixels[static_cast<size_t>(y * picture.width + x)], classes[0].color);
  // Each class's field, and ink beside it.
  for (size_t i = 0; i < classes.size(); ++i) {
    const int64_t y = 8 + static_cast<int64_t>(i) * 14 + 5;
    EXPECT_EQ(picture.pixels[static_cast<size_t>(y * picture.width + 7 + 8 + 5)], classes[i].color);
    int ink = 0;
    for (int64_t x = 7 + 8 + 14; x < picture.width; ++x)
      ink += picture.pixels[static_cast<size_t>(y * picture.width + x)] == Color{29, 33, 41};
    EXPECT_GT(ink, 3) << i;
  }
}

TEST(ClassPicture, IsAPng) {
  const std::string png = to_png(class_picture(2, 1, std::vector<uint8_t>{0, 1}, classes));
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_EQ(png.substr(12, 4), "IHDR");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\0\2\0\0\0\1", 8));
  EXPECT_EQ(png.substr(24, 2), std::string("\x08\x02", 2));  // 8 bits, red green blue
}

}  // namespace
}  // namespace modewise::report
