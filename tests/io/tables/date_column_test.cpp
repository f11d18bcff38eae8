#include "modewise/io/tables/date_column.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/io/tables/instants.h"

namespace modewise::io {
namespace {

DateColumn dates_of(std::initializer_list<const char*> texts) {
  DateColumn column;
  for (const char* text : texts) EXPECT_TRUE(column.add(text)) << text;
  return column;
}

TEST(DateColumn, LetsOneRowDecideForAll) {
  DateColumn column = dates_of({"01/02/2016", "02/02/2016", "13/02/2016"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(column.style().order, DateStyle::day_first);
  EXPECT_FALSE(column.style().order_guessed);
  EXPECT_EQ(column.take_dates(), (std::vector<int64_t>{at(2016, 2, 1), at(2016, 2, 2), at(2016, 2, 13)}));

  column = dates_of({"01/02/2016", "01/13/2016"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(column.style().order, DateStyle::month_first);
  EXPECT_EQ(column.take_dates(), (std::vector<int64_t>{at(2016, 1, 2), at(2016, 1, 13)}));
}

TEST(DateColumn, TakesTheOrderInWhichTimeGoesForward) {
  DateColumn column = dates_of({"11/01/2016", "12/01/2016", "01/02/2016"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(column.style().order, DateStyle::day_first);
  EXPECT_FALSE(column.style().order_guessed);
  EXPECT_EQ(column.take_dates(), (std::vector<int64_t>{at(2016, 1, 11), at(2016, 1, 12), at(2016, 2, 1)}));
}

TEST(DateColumn, TakesTheUsualOrderAndSaysSoWhenBothFit) {
  for (const char* separator : {"/", "-"}) {
    DateColumn column;
    for (const char* day : {"02", "03"})
      ASSERT_TRUE(column.add(std::string("01") + separator + day + separator + "2016 10:00"));
    ASSERT_TRUE(column.decide());
    EXPECT_EQ(column.style().order, DateStyle::month_first);
    EXPECT_TRUE(column.style().order_guessed);
    EXPECT_EQ(column.take_dates(), (std::vector<int64_t>{at(2016, 1, 2, 10), at(2016, 1, 3, 10)}));
  }
  DateColumn column = dates_of({"01.01.2020", "02.01.2020", "12.01.2020"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(column.style().order, DateStyle::day_first);
  EXPECT_TRUE(column.style().order_guessed);
  EXPECT_EQ(column.take_dates(), (std::vector<int64_t>{at(2020, 1, 1), at(2020, 1, 2), at(2020, 1, 12)}));
}

TEST(DateColumn, DecidesDotsAndDashesAsSlashes) {
  DateColumn dots = dates_of({"11.01.2020", "12.01.2020", "13.01.2020"});
  ASSERT_TRUE(dots.decide());
  EXPECT_EQ(dots.style().order, DateStyle::day_first);
  EXPECT_FALSE(dots.style().order_guessed);
  EXPECT_EQ(dots.take_dates(), (std::vector<int64_t>{at(2020, 1, 11), at(2020, 1, 12), at(2020, 1, 13)}));

  DateColumn american = dates_of({"01.12.2020", "01.13.2020", "02.01.2020"});
  ASSERT_TRUE(american.decide());
  EXPECT_EQ(american.style().order, DateStyle::month_first);
  EXPECT_EQ(american.take_dates(), (std::vector<int64_t>{at(2020, 1, 12), at(2020, 1, 13), at(2020, 2, 1)}));

  DateColumn dashes = dates_of({"11-01-2020", "12-01-2020", "13-01-2020"});
  ASSERT_TRUE(dashes.decide());
  EXPECT_EQ(dashes.style().order, DateStyle::day_first);
  EXPECT_EQ(dashes.take_dates(), (std::vector<int64_t>{at(2020, 1, 11), at(2020, 1, 12), at(2020, 1, 13)}));

  DateColumn forward = dates_of({"11.01.2020", "12.01.2020", "01.02.2020"});
  ASSERT_TRUE(forward.decide());
  EXPECT_EQ(forward.take_dates(), (std::vector<int64_t>{at(2020, 1, 11), at(2020, 1, 12), at(2020, 2, 1)}));
}

TEST(DateColumn, ReadsRepeatedTextsAsTheFirstTime) {
  // 20,000 rows of 30 days in two forms of offset; after 8,192 rows texts are remembered.
  DateColumn column, ambiguous;
  for (int row = 0; row < 20000; ++row) {
    const int day = 1 + row % 30;
    ASSERT_TRUE(column.add(fmt::format("2016-03-{:02}T10:00:00{}", day, day < 27 ? "+01:00" : "+02:00")));
    ASSERT_TRUE(ambiguous.add(fmt::format("{:02}/{:02}/2016", 1 + row % 12, row < 15000 ? 1 : 13)));
  }
  ASSERT_TRUE(column.decide());
  ASSERT_TRUE(ambiguous.decide());
  const std::vector<int64_t> dates = column.take_dates(), days = ambiguous.take_dates();
  ASSERT_EQ(dates.size(), 20000u);
  for (int row = 0; row < 20000; ++row) {
    const int day = 1 + row % 30;
    ASSERT_EQ(dates[static_cast<size_t>(row)], to_seconds({2016, 3, day, day < 27 ? 9 : 8, 0, 0}));
    ASSERT_EQ(days[static_cast<size_t>(row)],
              to_seconds({2016, 1 + row % 12, row < 15000 ? 1 : 13, 0, 0, 0}));
  }
}

TEST(DateColumn, RefusesAMixOfOrders) {
  DateColumn column = dates_of({"13/01/2016", "01/13/2016"});
  EXPECT_FALSE(column.decide());
}

TEST(DateColumn, RefusesRowsOfAnotherForm) {
  DateColumn column = dates_of({"2016-07-01"});
  EXPECT_FALSE(column.add("07/01/2016"));
  EXPECT_FALSE(column.add("2016/07/01"));
  EXPECT_FALSE(column.add("2016-07-01 00:00Z"));
  EXPECT_FALSE(column.add("x"));
  EXPECT_EQ(column.rows(), 1);
}

TEST(DateColumn, KeepsTheFullestClock) {
  DateColumn column = dates_of({"7/1/2016", "7/1/2016 9:00", "7/13/2016 10:00:30"});
  column.add_missing();
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(column.style().clock, DateStyle::seconds);
  EXPECT_EQ(format_date_time(at(2016, 7, 2, 9), column.style()), "7/2/2016 9:00:00");
  EXPECT_EQ(column.take_dates().back(), DateColumn::missing);
}

TEST(DateColumn, TakesTheHalvesOfTheDayOfTheFirstRowThatHasThem) {
  DateColumn column = dates_of({"7/13/2016", "7/13/2016 9:30p.m.", "7/14/2016 9:30 PM"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(format_date_time(at(2016, 7, 2, 21, 15), column.style()), "7/2/2016 9:15p.m.");
}

TEST(DateColumn, TakesTheFormOfTheFirstClock) {
  DateColumn column = dates_of({"2016-07-01", "2016-07-01T09:30"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(format_date_time(at(2016, 7, 2, 8, 15), column.style()), "2016-07-02T08:15");
  DateColumn spaced = dates_of({"2016-07-01", "2016-07-01 9:30"});
  ASSERT_TRUE(spaced.decide());
  EXPECT_EQ(format_date_time(at(2016, 7, 2, 8, 15), spaced.style()), "2016-07-02 8:15");
}

TEST(DateColumn, KeepsTheLocalClockOfOneOffsetAndElseUsesUtc) {
  DateColumn same = dates_of({"2016-07-01 09:00+02:00", "2016-07-01 10:00+02:00"});
  ASSERT_TRUE(same.decide());
  EXPECT_EQ(format_date_time(same.take_dates()[1], same.style()), "2016-07-01 10:00+02:00");

  DateColumn summer = dates_of({"2016-03-27 01:00+01:00", "2016-03-27 03:00+02:00"});
  ASSERT_TRUE(summer.decide());
  EXPECT_EQ(summer.style().offset_minutes, 0);
  EXPECT_EQ(summer.take_dates(), (std::vector<int64_t>{at(2016, 3, 27, 0), at(2016, 3, 27, 1)}));

  // An empty cell must not shift the offsets of the rows below it.
  DateColumn gap = dates_of({"2016-03-27 01:00+01:00", "2016-03-27 03:00+02:00"});
  gap.add_missing();
  EXPECT_TRUE(gap.add("2016-03-27 07:00+05:00"));
  EXPECT_TRUE(gap.add("2016-03-27 06:00+03:00"));
  ASSERT_TRUE(gap.decide());
  EXPECT_EQ(gap.take_dates(),
            (std::vector<int64_t>{at(2016, 3, 27, 0), at(2016, 3, 27, 1), DateColumn::missing,
                                  at(2016, 3, 27, 2), at(2016, 3, 27, 3)}));
}

TEST(DateColumn, ReadsOneLanguage) {
  DateColumn german = dates_of({"Apr 2016", "Mai 2016", "Jun 2016", "Okt 2016"});
  ASSERT_TRUE(german.decide());
  EXPECT_EQ(format_date_time(at(2016, 12, 1), german.style()), "Dez 2016");
  DateColumn french = dates_of({"janv. 2016", "mai 2016", "juin 2016"});
  EXPECT_EQ(format_date_time(at(2016, 2, 1), french.style()), "févr. 2016");
  EXPECT_FALSE(french.add("Okt. 2016"));
  DateColumn english = dates_of({"Apr 2016", "Sept 2016", "Oct 2016"});
  EXPECT_EQ(format_date_time(at(2016, 12, 1), english.style()), "Dec 2016");
}

TEST(DateColumn, ExchangesDayAndMonthAround24Hours) {
  DateColumn column =
      dates_of({"11/01/2016 24:00", "12/01/2016 12:00", "12/01/2016 24:00", "13/01/2016 24:00"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(format_date_time(at(2016, 1, 15), column.style()), "14/01/2016 24:00");
  EXPECT_EQ(column.take_dates(),
            (std::vector<int64_t>{at(2016, 1, 12), at(2016, 1, 12, 12), at(2016, 1, 13), at(2016, 1, 14)}));
}

TEST(DateColumn, DecidesTheOrderOfIntervals) {
  // The second of January, since the twelfth month would take a month.
  DateColumn column =
      dates_of({"01/02/2016 23:00 - 02/02/2016 00:00", "02/02/2016 00:00 - 02/02/2016 01:00"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(column.style().order, DateStyle::day_first);
  EXPECT_EQ(column.take_dates(), (std::vector<int64_t>{at(2016, 2, 1, 23), at(2016, 2, 2)}));
  DateColumn months = dates_of({"2016-01-01 - 2016-02-01", "2016-02-01 - 2016-03-01"});
  ASSERT_TRUE(months.decide());
  EXPECT_EQ(format_date_time(at(2016, 3, 1), months.style()), "2016-03-01") << "lengths differ";
  // One end decides for the other.
  for (const char* text : {"07.31.2016 - 08.01.2016", "12/12/2016 - 13/12/2016", "13/12/2016 - 12/01/2017"}) {
    DateColumn one = dates_of({text});
    ASSERT_TRUE(one.decide());
    EXPECT_FALSE(one.style().order_guessed) << text;
    EXPECT_EQ(format_date_time(one.take_dates()[0], one.style()), text);
  }
  EXPECT_FALSE(DateColumn().add("07/31/2016 - 31/08/2016")) << "the ends contradict each other";
}

TEST(DateColumn, TakesTheLengthOfIntervalsThatAChangeOfTheClockShortens) {
  DateColumn hours = dates_of({"2016-10-30 02:00 - 2016-10-30 02:00", "2016-10-30 02:00 - 2016-10-30 03:00"});
  ASSERT_TRUE(hours.decide());
  EXPECT_EQ(format_date_time(at(2016, 10, 31), hours.style()), "2016-10-31 00:00 - 2016-10-31 01:00");
}

TEST(DateColumn, TakesSummerAndWinterZonesToUtc) {
  DateColumn column = dates_of({"2024-10-27 02:30 CEST", "2024-10-27 02:30 CET"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(format_date_time(at(2024, 10, 27, 2, 30), column.style()), "2024-10-27 02:30 UTC");
  EXPECT_EQ(column.take_dates(), (std::vector<int64_t>{at(2024, 10, 27, 0, 30), at(2024, 10, 27, 1, 30)}));
  EXPECT_EQ(column.style().guessed_zone, "");
  DateColumn american = dates_of({"2024-07-01 02:30 CDT", "2024-11-27 02:30 CST"});
  ASSERT_TRUE(american.decide());
  EXPECT_EQ(american.style().guessed_zone, "CST");
  EXPECT_EQ(american.take_dates()[1], at(2024, 11, 27, 8, 30));
}

}  // namespace
}  // namespace modewise::io
