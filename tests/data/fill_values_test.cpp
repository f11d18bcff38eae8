#include "modewise/data/fill_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace modewise::data {
namespace {

std::string found_fills(const std::vector<double>& values) {
  FillValues fills;
  for (size_t i = 0; i < values.size(); ++i) fills.see(values[i], static_cast<int64_t>(i));
  std::string text;
  for (const FillValues::Found& one : fills.found())
    text += fill_text(one.value) + " " + std::to_string(one.first) + " " + std::to_string(one.count) + "\n";
  return text;
}

TEST(FillValues, OfNoPossibleSizeAreAlwaysFound) {
  EXPECT_EQ(found_fills({1, 1e20, 2, static_cast<double>(1e20F), -1e20}),
            "1e+20 1 1\n1e+20 3 1\n-1e+20 4 1\n");
  EXPECT_EQ(found_fills({1, static_cast<double>(-3.4e38F), 9.96921e36, 1e20}),
            "-3.4e+38 1 1\n9.96921e+36 2 1\n1e+20 3 1\n");
  EXPECT_EQ(found_fills({static_cast<double>(std::numeric_limits<float>::lowest())}), "-3.4028235e+38 0 1\n");
  EXPECT_EQ(found_fills({1, 1e19, 1.00001e20, -5e25, std::nan(""), HUGE_VAL}), "");
}

TEST(FillValues, OfPossibleSizeAreFoundApartFromTheOthers) {
  EXPECT_EQ(found_fills({3, -9999, 800, -9999}), "-9999 1 2\n");
  EXPECT_EQ(found_fills({3, -9999, -5000}), "");
  EXPECT_EQ(found_fills({3, -9999, -4999}), "-9999 1 1\n");
  EXPECT_EQ(found_fills({-32768, 100, 2000}), "-32768 0 1\n");
  EXPECT_EQ(found_fills({-32768, 100, -20000}), "");
  EXPECT_EQ(found_fills({65535, 100, 30000}), "65535 0 1\n");
  EXPECT_EQ(found_fills({65535, 100, 60000}), "");
  EXPECT_EQ(found_fills({-9999, -9999}), "");  // nothing to compare with
  EXPECT_EQ(found_fills({-1024, -2048, 100}), "");
}

}  // namespace
}  // namespace modewise::data
