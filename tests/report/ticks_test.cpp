#include "modewise/report/ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "modewise/core/error.h"
#include "tests/error_of.h"

namespace modewise::report {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks) out.push_back(tick.label + (tick.context.empty() ? "" : "|" + tick.context));
  return out;
}

// Seconds of dates, from an independent table (date -u -d … +%s).
constexpr double k2016Jul1 = 1467331200, k2016Feb28 = 1456617600, k2015Jan1 = 1420070400, k1969Dec31 = -86400;
constexpr double kHour = 3600, kDay = 86400;

TEST(NumberTicks, AreMultiplesOfOneTwoOrFive) {
  EXPECT_THAT(labels(number_ticks(0, 10, 5)), ElementsAre("0", "2", "4", "6", "8", "10"));
  EXPECT_THAT(labels(number_ticks(-1, 1, 4)), ElementsAre("−1.0", "−0.5", "0", "0.5", "1.0"));
  EXPECT_THAT(labels(number_ticks(0.13, 0.47, 4)), ElementsAre("0.2", "0.3", "0.4"));
  EXPECT_THAT(labels(number_ticks(0, 40000, 4)), ElementsAre("0", "10,000", "20,000", "30,000", "40,000"));
  EXPECT_THAT(labels(number_ticks(1e6, 3e6, 2)), ElementsAre("1×10⁶", "2×10⁶", "3×10⁶"));
  EXPECT_THAT(labels(number_ticks(0, 5e-5, 5)),
              ElementsAre("0", "1×10⁻⁵", "2×10⁻⁵", "3×10⁻⁵", "4×10⁻⁵", "5×10⁻⁵"));
}

TEST(NumberTicks, LieInsideTheRangeForAnyRange) {
  for (const double low : {-1e300, -1e15, -7.3, -1e-9, 0.0, 1e-300, 3.14159, 99999.5, 1e9})
    for (const double span : {0.0, 1e-12, 1e-3, 0.7, 1.0, 13.0, 1e5, 1e18})
      for (const int count : {1, 2, 5, 12}) {
        const auto ticks = number_ticks(low, low + span, count);
        ASSERT_FALSE(ticks.empty());
        EXPECT_LE(ticks.size(), static_cast<size_t>(2 * count + 3));
        for (const Tick& tick : ticks) {
          EXPECT_GE(tick.position, low - span * 1e-5 - std::abs(low) * 1e-12);
          EXPECT_LE(tick.position, low + span * (1 + 1e-5) + std::abs(low) * 1e-12);
          EXPECT_FALSE(tick.label.empty());
        }
      }
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { number_ticks(1, 0, 3); }),
            "ticks need finite low <= high, got 1 and 0");
  EXPECT_EQ(
      error_of(ErrorKind::internal, [&] { number_ticks(0, std::numeric_limits<double>::infinity(), 3); }),
      "ticks need finite low <= high, got 0 and inf");
}

TEST(LogTicks, ArePowersOfTenOrFinerWhenFew) {
  EXPECT_THAT(labels(log_ticks(1e-4, 1e2, 8)), ElementsAre("10⁻⁴", "0.001", "0.01", "0.1", "1", "10", "100"));
  EXPECT_THAT(labels(log_ticks(0.2, 6, 5)), ElementsAre("0.2", "0.5", "1", "2", "5"));
  EXPECT_LE(log_ticks(1e-300, 1e300, 6).size(), 8u);
  EXPECT_GE(log_ticks(3.1, 3.2, 4).size(), 2u);  // falls back to linear steps
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { log_ticks(0, 1, 4); }),
            "logarithmic ticks need finite 0 < low <= high, got 0 and 1");
}

TEST(DateTicks, HoursNameTheDayWhereItChanges) {
  EXPECT_THAT(labels(date_ticks(k2016Jul1 + 6 * kHour, k2016Jul1 + 36 * kHour, 5)),
              ElementsAre("06:00|1 Jul 2016", "12:00", "18:00", "00:00|2 Jul 2016", "06:00", "12:00"));
}

TEST(DateTicks, SecondsMinutes) {
  EXPECT_THAT(labels(date_ticks(k2016Jul1 - 30, k2016Jul1 + 30, 4)),
              ElementsAre("23:59:30|30 Jun 2016", "23:59:45", "00:00:00|1 Jul 2016", "00:00:15", "00:00:30"));
}

TEST(DateTicks, DaysAcrossALeapDay) {
  EXPECT_THAT(labels(date_ticks(k2016Feb28, k2016Feb28 + 3 * kDay, 3)),
              ElementsAre("28 Feb|2016", "29 Feb", "1 Mar", "2 Mar"));
}

TEST(DateTicks, WeeksBeginOnMonday) {
  // 2016-07-04 was a Monday.
  EXPECT_THAT(labels(date_ticks(k2016Jul1, k2016Jul1 + 20 * kDay, 3)),
              ElementsAre("4 Jul|2016", "11 Jul", "18 Jul"));
}

TEST(DateTicks, MonthsNameTheYear) {
  EXPECT_THAT(labels(date_ticks(k2015Jan1 - 40 * kDay, k2015Jan1 + 100 * kDay, 5)),
              ElementsAre("Dec|2014", "Jan|2015", "Feb", "Mar", "Apr"));
}

TEST(DateTicks, YearsAndBeforeTheEpoch) {
  EXPECT_THAT(labels(date_ticks(k2015Jan1, k2015Jan1 + 3 * 366 * kDay, 3)),
              ElementsAre("2015", "2016", "2017", "2018"));
  EXPECT_THAT(labels(date_ticks(k1969Dec31, k1969Dec31 + kDay, 2)),
              ElementsAre("00:00|31 Dec 1969", "12:00", "00:00|1 Jan 1970"));
}

TEST(DateTicks, AnyRangeGivesAFew) {
  for (const double low : {-1e13, -6e10, -1e9, 0.0, 1.5e9, 2.1e11, 1e15})
    for (const double span : {0.0, 0.5, 61.0, 4e3, 9e4, 1e6, 3e7, 1e9, 5e10}) {
      const auto ticks = date_ticks(low, low + span, 6);
      EXPECT_FALSE(ticks.empty()) << low << " " << span;
      EXPECT_LE(ticks.size(), 16u) << low << " " << span;
    }
}

TEST(NumberLabel, GivesSignificantDigits) {
  EXPECT_EQ(number_label(0.37512), "0.375");
  EXPECT_EQ(number_label(-12.345), "−12.3");
  EXPECT_EQ(number_label(0.99999), "1.00");
  EXPECT_EQ(number_label(686544), "686544");
  EXPECT_EQ(number_label(1.51e9), "1.51×10⁹");
  EXPECT_EQ(number_label(2e-7), "2×10⁻⁷");
  EXPECT_EQ(number_label(0), "0");
  EXPECT_EQ(number_label(std::numeric_limits<double>::quiet_NaN()), "–");
}

}  // namespace
}  // namespace modewise::report
