#include "modewise/tasks/run/attention_figures.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "modewise/core/file.h"
#include "modewise/io/images/png.h"
#include "modewise/report/color.h"

namespace modewise::tasks {
namespace {

report::Color pixel(const train::Image& image, int64_t y, int64_t x) {
  const io::Image decoded = io::parse_png(as_bytes(image.png), image.name);
  EXPECT_EQ(decoded.width, image.width);
  EXPECT_EQ(decoded.height, image.height);
  const uint8_t* at = decoded.pixels.data() + (y * decoded.width + x) * 3;
  return {at[0], at[1], at[2]};
}

/// The nearest of 255 shades.
report::Color shade(double share) {
  return report::scale_color(report::ColorScale::sequential, std::lround(share * 254) / 254.0);
}

TEST(AttentionFigures, ShowTheHeadsOfTheFirstSampleSideBySide) {
  models::AttentionView view;
  const at::Tensor factor =
      at::tensor({0.75, 0.25, 0.0, 1.0, 0.5, 0.5, 0.5, 0.5, 9.0, 9.0, 9.0, 9.0}).view({3, 1, 2, 2});
  view.maps.push_back(
      {{1},
       {at::cat({factor.narrow(0, 0, 2).view({1, 2, 2, 2}), factor.narrow(0, 2, 1).expand({1, 2, 2, 2})})}});
  const std::vector<train::Image> images = attention_figures(view);
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].name, "attention/layer0/mode1");
  EXPECT_EQ(images[0].height, 128);  // cells of 64 pixels
  EXPECT_EQ(images[0].width, 128 + 2 + 128);
  EXPECT_EQ(pixel(images[0], 0, 0), shade(0.75));
  EXPECT_EQ(pixel(images[0], 63, 64), shade(0.25));
  EXPECT_EQ(pixel(images[0], 64, 63), shade(0));
  EXPECT_EQ(pixel(images[0], 127, 127), shade(1));
  EXPECT_EQ(pixel(images[0], 5, 128), (report::Color{255, 255, 255}));
  EXPECT_EQ(pixel(images[0], 5, 130), shade(0.5));
}

TEST(AttentionFigures, AverageWhatIsLarge) {
  models::AttentionView view;
  at::Tensor weights = at::zeros({1, 1, 512, 512});
  weights[0][0][1].fill_(1);  // half of the first row of 256
  weights[0][0][510].fill_(1);
  weights[0][0][511].fill_(1);
  view.full = {at::Tensor(), weights};
  const std::vector<train::Image> images = attention_figures(view);
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].name, "attention/layer1/tokens");
  EXPECT_EQ(images[0].width, 256);
  EXPECT_EQ(pixel(images[0], 0, 17), shade(0.5));
  EXPECT_EQ(pixel(images[0], 1, 17), shade(0));
  EXPECT_EQ(pixel(images[0], 255, 255), shade(1));
}

TEST(AttentionFigures, ShowWeightsBelowNothingAsNothing) {
  models::AttentionView view;
  view.full = {at::tensor({-1.0, 0.5, 2.0, 0.0}).view({1, 1, 2, 2}), at::zeros({1, 1, 2, 2})};
  const std::vector<train::Image> images = attention_figures(view);
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(pixel(images[0], 0, 0), shade(0));
  EXPECT_EQ(pixel(images[0], 0, 127), shade(0.25));
  EXPECT_EQ(pixel(images[0], 127, 0), shade(1));
  EXPECT_EQ(pixel(images[1], 0, 0), shade(0));
}

TEST(AttentionFigures, AreDrawnOfAMillionWeightsAtMost) {
  nn::ModelCost cost;
  EXPECT_TRUE(draws_attention(cost));
  cost.tokens = {32, 32};
  EXPECT_TRUE(draws_attention(cost));
  cost.tokens = {32, 33};
  EXPECT_FALSE(draws_attention(cost));
  cost.weight_share = 0.5;
  EXPECT_TRUE(draws_attention(cost));
}

}  // namespace
}  // namespace modewise::tasks
