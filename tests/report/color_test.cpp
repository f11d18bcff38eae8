#include "modewise/report/color.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace modewise::report {
namespace {

TEST(ScaleColor, SequentialLightnessFallsSteadily) {
  for (int i = 1; i <= 64; ++i)
    EXPECT_LT(lightness(scale_color(ColorScale::sequential, i / 64.0)),
              lightness(scale_color(ColorScale::sequential, (i - 1) / 64.0)));
}

TEST(ScaleColor, DivergingIsLightestInTheMiddleAndSymmetricInLightness) {
  EXPECT_EQ(scale_color(ColorScale::diverging, 0.5), (Color{246, 246, 246}));
  for (int i = 0; i <= 32; ++i) {
    const double low = lightness(scale_color(ColorScale::diverging, 0.5 - i / 64.0));
    const double high = lightness(scale_color(ColorScale::diverging, 0.5 + i / 64.0));
    EXPECT_NEAR(low, high, 0.04) << i;
  }
}

TEST(ScaleColor, ClampsAndTakesNanForTheLowEnd) {
  EXPECT_EQ(scale_color(ColorScale::sequential, -3), scale_color(ColorScale::sequential, 0));
  EXPECT_EQ(scale_color(ColorScale::sequential, 7), scale_color(ColorScale::sequential, 1));
  EXPECT_EQ(scale_color(ColorScale::sequential, std::numeric_limits<double>::quiet_NaN()),
            scale_color(ColorScale::sequential, 0));
}

TEST(Lightness, OfBlackGreyAndWhite) {
  EXPECT_EQ(lightness({0, 0, 0}), 0);
  EXPECT_NEAR(lightness({255, 255, 255}), 1, 1e-6);
  EXPECT_NEAR(lightness({255, 0, 0}), 0.62796, 1e-4);  // Ottosson's table
}

TEST(SeriesColor, RepeatsAfterTheLast) {
  EXPECT_EQ(series_color(0).hex(), "#0072b2");
  EXPECT_EQ(series_color(kSeriesColors), series_color(0));
  EXPECT_NE(series_color(0, true), series_color(0));
}

}  // namespace
}  // namespace modewise::report
