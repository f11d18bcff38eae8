#include "modewise/io/tables/date_numbers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/io/tables/instants.h"

namespace modewise::io {
namespace {

using Dates = std::vector<int64_t>;

TEST(DateNumbers, ReadsUnixTimeInItsUnits) {
  const int64_t begin = at(2024, 1, 1);
  for (const double unit : {1.0, 1e3, 1e6, 1e9}) {
    const auto read = read_unix_time(std::vector{1704067200 * unit, 1704070800 * unit});
    ASSERT_TRUE(read) << unit;
    EXPECT_EQ(read->dates, (Dates{begin, begin + 3600}));
    EXPECT_EQ(read->style.fraction_digits, 0);
    EXPECT_EQ(format_date_time(begin, read->style), fmt::format("{:.0f}", 1704067200 * unit));
  }
  EXPECT_EQ(read_unix_time(std::vector{1704067200500.0})->style.fraction_digits, 3);
  EXPECT_FALSE(read_unix_time(std::vector{1704067200.0, 5.0}));
  EXPECT_EQ(read_unix_time(std::vector{1704067200.0, 5.0}, "epoch_s")->dates, (Dates{begin, 5}));
}

TEST(DateNumbers, ReadsDigitsOfDates) {
  const std::pair<double, int64_t> cases[] = {{201607, at(2016, 7, 1)},
                                              {20160701, at(2016, 7, 1)},
                                              {2016070109, at(2016, 7, 1, 9)},
                                              {201607010930, at(2016, 7, 1, 9, 30)},
                                              {20160701093015, at(2016, 7, 1, 9, 30, 15)}};
  for (const auto& [number, expected] : cases) {
    const auto read = read_calendar_numbers(std::vector{number});
    ASSERT_TRUE(read) << number;
    EXPECT_EQ(read->dates, Dates{expected});
    EXPECT_EQ(format_date_time(expected, read->style), fmt::format("{:.0f}", number));
  }
  for (const double number : {201613.0, 20160732.0, 2016070125.0, 201607010960.0, 2016.5, 0.0, -201607.0})
    EXPECT_FALSE(read_calendar_numbers(std::vector{number})) << number;
  EXPECT_FALSE(read_calendar_numbers(std::vector{201607.0, 20160701.0})) << "of one length";
}

TEST(DateNumbers, ReadsExcelDays) {
  const auto read = read_excel_days(std::vector{45292.0, 45292.5, 45292.041666667});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->dates, (Dates{at(2024, 1, 1), at(2024, 1, 1, 12), at(2024, 1, 1, 1)}));
  EXPECT_EQ(format_date_time(at(2024, 1, 1), read->style), "45292");
  EXPECT_EQ(format_date_time(at(2024, 1, 1, 12), read->style), "45292.5");
  EXPECT_FALSE(read_excel_days(std::vector{12.0}));
}

TEST(DateNumbers, ReadsDecimalYears) {
  const auto middles = read_decimal_years(std::vector{1990.0417, 1990.1250, 1990.9583});
  ASSERT_TRUE(middles);
  EXPECT_EQ(middles->dates, (Dates{at(1990, 1, 1), at(1990, 2, 1), at(1990, 12, 1)}));
  EXPECT_EQ(format_date_time(at(1990, 3, 1), middles->style), "1990.2083");
  const auto starts = read_decimal_years(std::vector{1990.0, 1990.083, 1990.917});
  ASSERT_TRUE(starts);
  EXPECT_EQ(starts->dates, (Dates{at(1990, 1, 1), at(1990, 2, 1), at(1990, 12, 1)}));
  const auto days = read_decimal_years(std::vector{2023.0, 2023.002740, 2023.997260});
  ASSERT_TRUE(days);
  EXPECT_EQ(days->dates, (Dates{at(2023, 1, 1), at(2023, 1, 2), at(2023, 12, 31)}));
  EXPECT_EQ(format_date_time(at(2023, 1, 2), days->style), "2023.00274");
  const auto hours = read_decimal_years(std::vector{2023.5, 2023.50011416, 2023.50022831});
  ASSERT_TRUE(hours);
  EXPECT_EQ(hours->dates, (Dates{at(2023, 7, 2, 12), at(2023, 7, 2, 13), at(2023, 7, 2, 14)}));
  EXPECT_EQ(format_date_time(at(2023, 7, 2, 14), hours->style), "2023.50022831");
  const auto first_hours = read_decimal_years(std::vector{2023.0, 2023.00011416, 2023.00022831});
  ASSERT_TRUE(first_hours);
  EXPECT_EQ(first_hours->dates, (Dates{at(2023, 1, 1), at(2023, 1, 1, 1), at(2023, 1, 1, 2)}));
  EXPECT_FALSE(read_decimal_years(std::vector{2023.0, 2023.3}));
  EXPECT_FALSE(read_decimal_years(std::vector{2023.0, 2024.0}));
}

}  // namespace
}  // namespace modewise::io
