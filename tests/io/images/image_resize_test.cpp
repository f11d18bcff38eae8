#include "modewise/io/images/image_resize.h"

#include <algorithm>
#include <cmath>

#include "tests/error_of.h"
#include "tests/io/images/image_files.h"

namespace modewise::io {
namespace {

/// The formula of the header for one value, without cached weights or separate passes.
double value_at(const Image& image, const ImageBox& box, ResizeFilter filter, const Image& out, int64_t y,
                int64_t x, int64_t c) {
  const auto weight = [&](double at, double begin, double length, int64_t size, int64_t i) {
    const double scale = length / static_cast<double>(size), s = std::max(scale, 1.0);
    const double d = at + 0.5 - (begin + (static_cast<double>(i) + 0.5) * scale);
    if (filter == ResizeFilter::box) return d > -s / 2 && d <= s / 2 ? 1.0 : 0.0;
    return std::max(0.0, 1 - std::abs(d) / s);
  };
  double sum = 0, weights = 0;
  for (int64_t i = 0; i < image.height; ++i)
    for (int64_t j = 0; j < image.width; ++j) {
      const double w = weight(static_cast<double>(i), box.top, box.height, out.height, y) *
                       weight(static_cast<double>(j), box.left, box.width, out.width, x);
      sum += w * image.pixels[static_cast<size_t>((i * image.width + j) * image.channels + c)];
      weights += w;
    }
  return sum / weights;
}

void expect_formula(const Image& image, const ImageBox& box, ResizeFilter filter, const Image& out) {
  size_t at = 0;
  for (int64_t y = 0; y < out.height; ++y)
    for (int64_t x = 0; x < out.width; ++x)
      for (int64_t c = 0; c < out.channels; ++c, ++at)
        ASSERT_NEAR(out.pixels[at], value_at(image, box, filter, out, y, x, c), 0.5 + 1e-9)
            << y << ", " << x << ", " << c;
}

TEST(Resize, FollowsItsFormula) {
  for (const ResizeFilter filter : {ResizeFilter::bilinear, ResizeFilter::box}) {
    for (const auto& [height, width] :
         std::vector<std::array<int64_t, 2>>{{5, 7}, {31, 33}, {1, 1}, {3, 65}, {17, 2}}) {
      const Image image = speckled(13, 17, 3);
      const ImageBox all{0, 0, 13, 17}, part{1.25, 3.5, 9.5, 11.75};
      expect_formula(image, all, filter, resized(image, height, width, filter));
      expect_formula(image, part, filter, resized(image, part, height, width, filter));
    }
  }
}

TEST(Resize, IsWithinALevelOfPillow) {
  // Pillow rounds between its two passes, and its weights to 22 bits.
  const auto cases = load_vectors("png_jpeg.json")["resize"];
  EXPECT_EQ(cases.size(), 13U);
  for (const auto& test : cases) {
    const Image from = image_of(test["from_shape"], test["from"]),
                expected = image_of(test["shape"], test["pixels"]);
    const std::string name = test["name"];
    const Image got = name == "fitted" ? fitted(from, expected.height, expected.width)
                                       : resized(from, expected.height, expected.width,
                                                 name == "box" ? ResizeFilter::box : ResizeFilter::bilinear);
    ASSERT_EQ(got.pixels.size(), expected.pixels.size());
    for (size_t i = 0; i < got.pixels.size(); ++i)
      EXPECT_LE(std::abs(got.pixels[i] - expected.pixels[i]), 1) << name << " " << test["shape"];
  }
}

TEST(Resize, ToTheSameSizeChangesNothing) {
  for (const int64_t channels : {1, 3}) {
    const Image image = speckled(7, 33, channels);
    EXPECT_EQ(resized(image, 7, 33), image);
    EXPECT_EQ(resized(image, 7, 33, ResizeFilter::box), image);
    EXPECT_EQ(fitted(image, 7, 33), image);
  }
}

TEST(Resize, FitsTheMiddle) {
  // 3 rows of 7: the middle 3 × 3, and the middle 1 × 3 of its transpose.
  Image wide{3, 7, 1, {}};
  for (uint8_t i = 0; i < 21; ++i) wide.pixels.push_back(i);
  EXPECT_EQ(fitted(wide, 3, 3), (Image{3, 3, 1, {2, 3, 4, 9, 10, 11, 16, 17, 18}}));
  const Image tall{7, 3, 1, wide.pixels};
  EXPECT_EQ(fitted(tall, 3, 3), (Image{3, 3, 1, {6, 7, 8, 9, 10, 11, 12, 13, 14}}));
  EXPECT_EQ(error_of(ErrorKind::internal,
                     [&] {
                       resized(wide, {0, 0, 4, 7}, 2, 2);
                     }),
            "resized: 2 x 2 pixels cannot come from 4 x 7 at 0, 0 of 3 x 7");
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { resized(wide, 0, 2); }),
            "resized: 0 x 2 pixels cannot come from 3 x 7 at 0, 0 of 3 x 7");
}

}  // namespace
}  // namespace modewise::io
