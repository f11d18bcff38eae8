#include "modewise/analysis/measured_cost.h"

#include <gtest/gtest.h>

#include <cmath>

namespace modewise::analysis {
namespace {

TEST(MeasuredCost, TakesTimeAndMemory) {
  models::EncoderConfig config;
  const models::TokenShape tokens{{5, 5, 5}, {0, 1, 2}};
  const MeasuredCost measured = measure_encoder(config, "hot", tokens, 2, 3, 10);
  EXPECT_EQ(measured.repeats, 3);
  EXPECT_GT(measured.inference_seconds, 0);
  EXPECT_GT(measured.training_seconds, measured.inference_seconds * 0.5);
  // At least one activation of 125 tokens × 64 floats at a time; training keeps many more.
  EXPECT_GT(measured.inference_bytes, 125 * 64 * 4);
  EXPECT_GT(measured.training_bytes, 2 * measured.inference_bytes);
}

TEST(GrowthExponent, OfPowersIsThePower) {
  EXPECT_DOUBLE_EQ(growth_exponent({1, 8, 64}, {3, 3 * std::pow(8, 1.5), 3 * std::pow(64, 1.5)}), 1.5);
  EXPECT_TRUE(std::isnan(growth_exponent({1}, {2})));
}

}  // namespace
}  // namespace modewise::analysis
