// Values that come back from the scaling to float32. Oracle: strtod of the decimal text.

#include "modewise/models/forecasting/unscaled.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace modewise::models {
namespace {

float scaled(double value, double mean, double stddev) {
  return static_cast<float>((value - mean) / stddev);
}

struct Scale {
  double mean, stddev;
};

TEST(Unscaled, GivesTheDecimalsOfATableBack) {
  const std::vector<std::string> texts = {"0",     "1",       "7",      "140",     "13.322", "-0.05",
                                          "99.99", "1000000", "0.0625", "-273.15", "1e-3",   "5.827"};
  for (const Scale& scale : {Scale{0.77, 1.53}, {-3.1, 0.4}, {71.5, 25.3}, {0, 1}, {150, 777.7}, {1e-3, 12}})
    for (const std::string& text : texts) {
      const double value = std::strtod(text.c_str(), nullptr);
      EXPECT_EQ(unscaled(scaled(value, scale.mean, scale.stddev), scale.mean, scale.stddev), value)
          << text << " with mean " << scale.mean << ", standard deviation " << scale.stddev;
    }
}

TEST(Unscaled, HasTheDigitsThatTheScaleNeeds) {
  // Large values with a small spread, and small ones with a smaller spread.
  for (const std::string text : {"1013.2541", "1013.25", "1012.9999"})
    EXPECT_EQ(unscaled(scaled(std::strtod(text.c_str(), nullptr), 1013.2, 0.031), 1013.2, 0.031),
              std::strtod(text.c_str(), nullptr));
  EXPECT_EQ(unscaled(scaled(3.25e-12, 3e-12, 1e-13), 3e-12, 1e-13), 3.25e-12);
  EXPECT_EQ(unscaled(scaled(6.02214e20, 6e20, 1e19), 6e20, 1e19), 6.02214e20);
  EXPECT_EQ(unscaled(scaled(0.1, 0.09999999999999999, 1), 0.09999999999999999, 1), 0.1);  // a constant series
}

TEST(Unscaled, AnyNumberComesBackToItsFloat) {
  std::mt19937_64 draws(5);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 10000; ++i) {
    const double mean = normal(draws) * std::pow(10, i % 7 - 3), stddev = std::exp(normal(draws));
    const auto value = static_cast<float>(normal(draws));
    const double x = unscaled(value, mean, stddev);
    EXPECT_EQ(scaled(x, mean, stddev), value);
    const float next = std::nextafter(value, std::numeric_limits<float>::infinity());
    EXPECT_LT(x, unscaled(next, mean, stddev));
  }
}

TEST(Unscaled, IsTheNearestFloat64WhereNoDecimalIsScaledToIt) {
  EXPECT_EQ(unscaled(1e-12F, 140, 1), 140 + static_cast<double>(1e-12F));
  EXPECT_EQ(unscaled(1.5F, 0, 1e30), 1.5e30);
  EXPECT_EQ(unscaled(std::numeric_limits<float>::infinity(), 1, 2), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(unscaled(std::numeric_limits<float>::quiet_NaN(), 1, 2)));
}

}  // namespace
}  // namespace modewise::models
