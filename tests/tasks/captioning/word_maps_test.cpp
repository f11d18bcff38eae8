// Attention maps of words, pixel by pixel.

#include "modewise/tasks/captioning/word_maps.h"

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "modewise/core/file.h"
#include "modewise/io/images/png.h"

namespace modewise::tasks {
namespace {

/// The red of each pixel.
std::vector<int> reds(const std::string& png) {
  const io::Image image = io::parse_png(as_bytes(png), "test");
  std::vector<int> out;
  for (size_t i = 0; i < image.pixels.size(); i += 3) out.push_back(image.pixels[i]);
  return out;
}

TEST(WordMaps, DarkenWhatAWordDidNotLookAt) {
  const at::Tensor pixels = at::full({2, 4, 3}, 100, at::kByte);
  // Cell centres are at 1 and 3; pixel centres at 0.5, 1.5, 2.5, 3.5.
  const at::Tensor weights = at::tensor({0.0, 0.5}, at::kDouble).view({1, 2});
  EXPECT_EQ(reds(looked_at_png(pixels, weights)), (std::vector<int>{20, 40, 80, 100, 20, 40, 80, 100}));
  EXPECT_EQ(reds(looked_at_png(pixels, at::full({1, 2}, 0.5))), std::vector<int>(8, 100));
}

TEST(WordMaps, StandOnGreyWhereThereAreNoPixels) {
  const std::string png = looked_at_png(at::Tensor(), at::full({2, 2}, 0.25));
  EXPECT_EQ(reds(png), std::vector<int>(96 * 96, 200));
}

TEST(WordMaps, ShowImagesAsTheyAre) {
  data::CaptionSet set;
  set.pixels = at::tensor({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, at::kByte).view({2, 1, 2, 3});
  EXPECT_EQ(reds(image_png(set, 1)), (std::vector<int>{7, 10}));
  set.pixels = at::Tensor();
  EXPECT_EQ(image_png(set, 1), "");
}

}  // namespace
}  // namespace modewise::tasks
