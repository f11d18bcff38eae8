#include "modewise/io/tables/number_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace modewise::io {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Expects every number back to the bit, and one cell per number.
void expect_kept(const std::vector<double>& numbers, size_t bytes_per_cell) {
  NumberCells cells;
  cells.reserve(numbers.size());
  for (const double number : numbers) cells.push_back(number);
  ASSERT_EQ(cells.size(), numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint64_t>(cells[i]), std::bit_cast<uint64_t>(numbers[i]))
        << "number " << i << ": " << numbers[i] << ", not " << cells[i];
  EXPECT_EQ(cells.bytes_per_cell(), bytes_per_cell);
}

TEST(NumberCells, TakeTheNarrowestTypeThatKeepsTheNumbers) {
  expect_kept({}, 1);
  expect_kept({1, 2, 3}, 1);
  expect_kept({126, -126}, 1);
  expect_kept({127}, 2);
  expect_kept({-127}, 2);
  expect_kept({32766, -32766}, 2);
  expect_kept({32767}, 4);
  expect_kept({2147483646, -2147483646}, 4);
  expect_kept({2147483647}, 8);
  expect_kept({-2147483648.0}, 8);
  expect_kept({1e300, 5e-324, std::numeric_limits<double>::infinity()}, 8);
}

TEST(NumberCells, DecimalsShareAPowerOfTen) {
  expect_kept({0.5, 1, -2.5}, 1);
  expect_kept({1, 12, 0.25}, 2);     // 1200
  expect_kept({9.99, 120, 0.1}, 2);  // 12000
  expect_kept({1000, 0.001, 7}, 4);  // 1000000
  expect_kept({1e9, 0.5}, 8);        // 10000000000 is too large
  expect_kept({0.5, 1e9}, 8);
  expect_kept({0.000000001}, 1);
  expect_kept({0.0000000001}, 8);  // ten decimals
  expect_kept({1.0 / 3}, 8);
  expect_kept({0.1 + 0.2}, 8);  // 0.30000000000000004
  expect_kept({1.005, 2.675, -1.115, 4.35}, 2);
}

TEST(NumberCells, MissingNumbersAndMinusZeroStay) {
  for (const double wide : {1.0, 1000.0, 1e6, 1e12})
    expect_kept({0.0, kNan, -0.0, wide, kNan, -0.0, 0.0}, wide == 1.0      ? 1
                                                          : wide == 1000.0 ? 2
                                                          : wide == 1e6    ? 4
                                                                           : 8);
}

TEST(NumberCells, EarlierNumbersSurviveEachChangeOfTheType) {
  expect_kept({3, -0.0, kNan, 0.5, 300, 0.25, -70000, 0.125, 1e15, 1e-15, -0.0, kNan}, 8);
}

// As strtod reads the text of a number with k digits behind the point.
TEST(NumberCells, RandomDecimalsComeBackToTheBit) {
  std::mt19937_64 random(5);
  for (const int decimals : {0, 1, 2, 3, 5, 6}) {
    std::vector<double> numbers;
    for (int i = 0; i < 5000; ++i) {
      std::string digits = std::to_string(random() % 1'000'000'000);
      if (static_cast<size_t>(decimals) >= digits.size()) digits.insert(0, 10, '0');
      digits.insert(digits.size() - static_cast<size_t>(decimals), ".");
      numbers.push_back(std::strtod(((random() & 1) != 0 ? "-" + digits : digits).c_str(), nullptr));
    }
    expect_kept(numbers, 4);
  }
}

TEST(NumberCells, AreARangeOfDoubles) {
  const NumberCells cells = {4, 1.5, -3, 2};
  EXPECT_EQ(*std::max_element(cells.begin(), cells.end()), 4);
  EXPECT_EQ(std::vector<double>(cells.begin(), cells.end()), (std::vector<double>{4, 1.5, -3, 2}));
  EXPECT_EQ(
      std::vector<double>(std::make_reverse_iterator(cells.end()), std::make_reverse_iterator(cells.begin())),
      (std::vector<double>{2, -3, 1.5, 4}));
  EXPECT_EQ(cells.front(), 4);
  EXPECT_EQ(cells.back(), 2);
  EXPECT_EQ(cells.end() - cells.begin(), 4);
  EXPECT_EQ(cells.begin()[2], -3);
  EXPECT_EQ(cells, (std::vector<double>{4, 1.5, -3, 2}));
  EXPECT_FALSE(cells == (NumberCells{4, 1.5, -3}));
  EXPECT_FALSE(cells == (NumberCells{4, 1.5, -3, 2.5}));
  EXPECT_FALSE(NumberCells{kNan} == NumberCells{kNan});
  EXPECT_TRUE(NumberCells().empty());
}

}  // namespace
}  // namespace modewise::io
