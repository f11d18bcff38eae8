#include "modewise/io/tables/date_time.h"

#include <gtest/gtest.h>

#include "modewise/io/tables/date_column.h"

namespace modewise::io {
namespace {

int64_t at(int64_t year, int month, int day, int hour = 0, int minute = 0, int second = 0) {
  return to_seconds({year, month, day, hour, minute, second});
}

TEST(Calendar, KnowsWellKnownInstants) {
  EXPECT_EQ(at(1970, 1, 1), 0);
  EXPECT_EQ(at(2000, 3, 1), 951868800);
  EXPECT_EQ(at(2016, 7, 1, 12, 34, 56), 1467376496);
  EXPECT_EQ(at(1969, 12, 31, 23, 59, 59), -1);
  EXPECT_EQ(at(1, 1, 1), -62135596800);
  EXPECT_EQ(at(9999, 12, 31, 23, 59, 59), 253402300799);
}

TEST(Calendar, GoesThereAndBackForEveryDayOfFourCenturies) {
  int64_t expected = at(1900, 1, 1);
  for (int64_t year = 1900; year < 2300; ++year) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= days_in_month(year, month); ++day, expected += 86400) {
        const CivilTime time{year, month, day, 5, 6, 7};
        ASSERT_EQ(to_seconds(time), expected + 5 * 3600 + 6 * 60 + 7);
        ASSERT_EQ(to_civil(to_seconds(time)), time);
      }
    }
  }
}

TEST(Calendar, KnowsLeapYears) {
  EXPECT_EQ(days_in_month(2016, 2), 29);
  EXPECT_EQ(days_in_month(2015, 2), 28);
  EXPECT_EQ(days_in_month(1900, 2), 28);
  EXPECT_EQ(days_in_month(2000, 2), 29);
  EXPECT_TRUE(parse_date_time("2016-02-29"));
  EXPECT_FALSE(parse_date_time("2015-02-29"));
  EXPECT_FALSE(parse_date_time("1900-02-29 00:00:00"));
  EXPECT_TRUE(parse_date_time("2000-02-29 00:00:00"));
}

TEST(Calendar, AddsMonthsAndCutsTheDay) {
  EXPECT_EQ(add_months(at(2016, 1, 31), 1), at(2016, 2, 29));
  EXPECT_EQ(add_months(at(2015, 12, 31, 6), 2), at(2016, 2, 29, 6));
  EXPECT_EQ(add_months(at(2016, 1, 1), -1), at(2015, 12, 1));
  EXPECT_EQ(add_months(at(2016, 1, 1), -13), at(2014, 12, 1));
  EXPECT_EQ(add_months(at(2016, 6, 15), 0), at(2016, 6, 15));
}

TEST(ParseDateTime, ReadsTheCommonForms) {
  const int64_t midnight = at(2016, 7, 1), morning = at(2016, 7, 1, 9, 30), exact = at(2016, 7, 1, 9, 30, 15);
  const std::pair<const char*, int64_t> cases[] = {
      {"2016-07-01", midnight},
      {"2016-7-1", midnight},
      {"  2016-07-01\t", midnight},
      {"2016/07/01", midnight},
      {"2016.07.01", midnight},
      {"20160701", midnight},
      {"2016-07", midnight},
      {"2016-07-01 00:00:00", midnight},
      {"2016-07-01 09:30", morning},
      {"2016-07-01 9:30", morning},
      {"2016-07-01T09:30", morning},
      {"2016-07-01 09", at(2016, 7, 1, 9)},
      {"2016-07-01T09:30:15", exact},
      {"2016-07-01 09:30:15.000", exact},
      {"2016-07-01 09:30:15.999999999", exact},
      {"2016-07-01T09:30:15Z", exact},
      {"2016-07-01 09:30:15+00:00", exact},
      {"2016-07-01T11:30:15+02:00", exact},
      {"2016-07-01T04:30:15-0500", exact},
      {"2016-07-01T11:30:15+02", exact},
      {"2016/07/01 09:30:15", exact},
      {"01.07.2016", midnight},
      {"1.7.2016 9:30", morning},
      {"01.07.2016 09:30:15", exact},
      {"07/01/2016", midnight},
      {"7/1/2016 9:30", morning},
      {"7/1/16 9:30", morning},
      {"07-01-2016 09:30", morning},
      {"07/01/2016 09:30 AM", morning},
      {"07/01/2016 9:30:15 am", exact},
      {"07/01/2016 12:00 AM", midnight},
      {"07/01/2016 12:00 PM", at(2016, 7, 1, 12)},
      {"07/01/2016 9:30 PM", at(2016, 7, 1, 21, 30)},
      {"31/12/2016", at(2016, 12, 31)},
      {"12/31/2016", at(2016, 12, 31)},
      {"01-Jul-2016", midnight},
      {"1-JUL-16", midnight},
      {"1 July 2016 9:30", morning},
      {"01/jul/2016 09:30:15", exact},
      {"1.Jul.2016", midnight},
      {"29-Feb-2016", at(2016, 2, 29)},
      {"2 Sept 2016", at(2016, 9, 2)},
      {"Jul 01, 2016", midnight},
      {"July 1, 2016 9:30", morning},
      {"Jul 2016", midnight},
      {"May-2016", at(2016, 5, 1)},
      {"December/2016", at(2016, 12, 1)},
      {"2016-Jul-01", midnight},
      {"2016 Jul 1 9:30", morning},
      {"2016 Jul", midnight},
      {"2016Q3", midnight},
      {"2016-Q3", midnight},
      {"2016 Q4", at(2016, 10, 1)},
      {"2016.Q1", at(2016, 1, 1)},
      {"7/1/69", at(1969, 7, 1)},
      {"7/1/68", at(2068, 7, 1)},
  };
  for (const auto& [text, expected] : cases) {
    const auto parsed = parse_date_time(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, expected) << text;
  }
}

TEST(ParseDateTime, RefusesWhatIsNoDate) {
  for (const char* text : {"",
                           " ",
                           "2016",
                           "2016-",
                           "2016-13-01",
                           "2016-00-01",
                           "2016-01-00",
                           "2016-01-32",
                           "2016-1",
                           "2016/07",
                           "2016.07",
                           "12.34",
                           "1.5",
                           "1.2.3",
                           "192.168.0.1",
                           "2016-07-01-",
                           "2016-07-01 ",
                           "2016-07-01x",
                           "2016-07-01 24:00",
                           "2016-07-01 12:60",
                           "2016-07-01 12:00:60",
                           "2016-07-01 12:",
                           "2016-07-01 12:0",
                           "2016-07-01 5",
                           "2016-07-01 12:00:00.",
                           "2016-07-01T",
                           "2016-07-01 13:00 PM",
                           "2016-07-01 0:00 AM",
                           "32/01/2016",
                           "13/13/2016",
                           "00/01/2016",
                           "1/1/1",
                           "1/1/016",
                           "16-07-01",
                           "2016-07/01",
                           "07/01-2016",
                           "2016-07-01 12:00+24:00",
                           "2016-07-01 12:00+1",
                           "2016-07-01 12:00 CET",
                           "20161301",
                           "201607011",
                           "date",
                           "NA",
                           "-2016-07-01",
                           "1e5",
                           "July 1 2016",
                           "July 1,2016",
                           "July-1, 2016",
                           "Jul 1, 16",
                           "Jul-16",
                           "Jul 2016 09:30",
                           "Jul.2016",
                           "Ju 2016",
                           "Juli 2016",
                           "Jul2016",
                           "July 32, 2016",
                           "30-Feb-2016",
                           "29 Feb 2015",
                           "01-Jul/2016",
                           "01-Jul-016",
                           "01 07 2016",
                           "2016 07 01",
                           "2016-Jul/01",
                           "2016-Jul-",
                           "2016-Jul-001",
                           "2016-Jul-32",
                           "2016Q0",
                           "2016Q5",
                           "2016Q31",
                           "2016Q3 09:30",
                           "2016/Q3",
                           "2016Q",
                           "2016 Quarter 3",
                           "2016-07-01 00:00:00 00:00:00"}) {
    if (std::string_view(text) == "2016-07-01 ") continue;  // surrounding spaces are allowed
    EXPECT_FALSE(parse_date_time(text)) << text;
  }
}

TEST(ParseDateTime, ReadsTextsOfSixToFortyEightCharacters) {
  EXPECT_TRUE(parse_date_time("1/1/16"));
  const std::string date = "2016-07-01 09:30:15.";
  EXPECT_TRUE(parse_date_time(date + std::string(28, '0')));
  EXPECT_FALSE(parse_date_time(date + std::string(29, '0')));
  EXPECT_EQ(read_date_time(date + std::string(12, '0'))->style.fraction_digits, 9);
  EXPECT_EQ(read_date_time(date + "12")->style.fraction_digits, 2);
}

TEST(DateStyle, WritesADateAsItWasRead) {
  for (const char* text : {"2016-07-01 00:00:00",
                           "2016-07-01",
                           "2016/07/01 09:30",
                           "2016-7-1",
                           "2016-07",
                           "20160701",
                           "2016-07-01T09:30:15",
                           "2016-07-01T09:30:15Z",
                           "2016-07-01 09:30:15+02:00",
                           "2016-07-01 09:30:15-05:30",
                           "01.07.2016 09:30",
                           "1.7.2016 9:05",
                           "07/31/2016",
                           "7/31/2016 0:00",
                           "7/31/16 9:30",
                           "31/07/2016 09:30:15",
                           "07/31/2016 09:30:15 PM",
                           "7/31/2016 12:00 AM",
                           "2016-07-01 09:30:15.000",
                           "2016-07-01 09",
                           "01-Jul-2016",
                           "1-JUL-16 9:30",
                           "31 July 2016 09:30:15",
                           "01/Sep/2016",
                           "July 1, 2016",
                           "SEP 30, 2016 09:30",
                           "Jul 2016",
                           "FEB-2016",
                           "2016-Jul-01",
                           "2016 July",
                           "2016Q3",
                           "2016-Q1",
                           "2016 Q4"}) {
    const auto date = read_date_time(text);
    ASSERT_TRUE(date) << text;
    EXPECT_EQ(format_date_time(to_seconds(date->time), date->style), text);
  }
}

TEST(DateStyle, IsNamedForNotes) {
  EXPECT_EQ(read_date_time("2016-07-01 00:00:00")->style.text(), "year-month-day hour:minute:second");
  EXPECT_EQ(read_date_time("31.07.2016 00:00")->style.text(), "day.month.year hour:minute");
  EXPECT_EQ(read_date_time("7/31/16")->style.text(), "month/day/yy");
  EXPECT_EQ(read_date_time("2016-07")->style.text(), "year-month");
  EXPECT_EQ(read_date_time("Jul 2016")->style.text(), "month year");
  EXPECT_EQ(read_date_time("31-Jul-2016")->style.text(), "day-month-year");
  EXPECT_EQ(read_date_time("2016Q3")->style.text(), "yearquarter");
  EXPECT_EQ(read_date_time("20160701")->style.text(), "yearmonthday");
  EXPECT_EQ(read_date_time("07/31/2016 09:30 PM")->style.text(), "month/day/year hour:minute AM/PM");
  EXPECT_EQ(read_date_time("2016-07-01T09:30:15Z")->style.text(), "year-month-dayThour:minute:secondZ");
  EXPECT_EQ(read_date_time("2016-07-01 09+02:00")->style.text(), "year-month-day hour±offset");
}

DateColumn column_of(std::initializer_list<const char*> texts) {
  DateColumn column;
  for (const char* text : texts) EXPECT_TRUE(column.add(text)) << text;
  return column;
}

TEST(DateColumn, LetsOneRowDecideForAll) {
  DateColumn column = column_of({"01/02/2016", "02/02/2016", "13/02/2016"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(column.style().order, DateStyle::day_first);
  EXPECT_FALSE(column.style().order_guessed);
  EXPECT_EQ(column.take_dates(), (std::vector<int64_t>{at(2016, 2, 1), at(2016, 2, 2), at(2016, 2, 13)}));

  column = column_of({"01/02/2016", "01/13/2016"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(column.style().order, DateStyle::month_first);
  EXPECT_EQ(column.take_dates(), (std::vector<int64_t>{at(2016, 1, 2), at(2016, 1, 13)}));
}

TEST(DateColumn, TakesTheOrderInWhichTimeGoesForward) {
  DateColumn column = column_of({"11/01/2016", "12/01/2016", "01/02/2016"});
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
  DateColumn column = column_of({"01.01.2020", "02.01.2020", "12.01.2020"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(column.style().order, DateStyle::day_first);
  EXPECT_TRUE(column.style().order_guessed);
  EXPECT_EQ(column.take_dates(), (std::vector<int64_t>{at(2020, 1, 1), at(2020, 1, 2), at(2020, 1, 12)}));
}

TEST(DateColumn, DecidesDotsAndDashesAsSlashes) {
  DateColumn dots = column_of({"11.01.2020", "12.01.2020", "13.01.2020"});
  ASSERT_TRUE(dots.decide());
  EXPECT_EQ(dots.style().order, DateStyle::day_first);
  EXPECT_FALSE(dots.style().order_guessed);
  EXPECT_EQ(dots.take_dates(), (std::vector<int64_t>{at(2020, 1, 11), at(2020, 1, 12), at(2020, 1, 13)}));

  DateColumn american = column_of({"01.12.2020", "01.13.2020", "02.01.2020"});
  ASSERT_TRUE(american.decide());
  EXPECT_EQ(american.style().order, DateStyle::month_first);
  EXPECT_EQ(american.take_dates(), (std::vector<int64_t>{at(2020, 1, 12), at(2020, 1, 13), at(2020, 2, 1)}));

  DateColumn dashes = column_of({"11-01-2020", "12-01-2020", "13-01-2020"});
  ASSERT_TRUE(dashes.decide());
  EXPECT_EQ(dashes.style().order, DateStyle::day_first);
  EXPECT_EQ(dashes.take_dates(), (std::vector<int64_t>{at(2020, 1, 11), at(2020, 1, 12), at(2020, 1, 13)}));

  DateColumn forward = column_of({"11.01.2020", "12.01.2020", "01.02.2020"});
  ASSERT_TRUE(forward.decide());
  EXPECT_EQ(forward.take_dates(), (std::vector<int64_t>{at(2020, 1, 11), at(2020, 1, 12), at(2020, 2, 1)}));
}

TEST(DateColumn, RefusesAMixOfOrders) {
  DateColumn column = column_of({"13/01/2016", "01/13/2016"});
  EXPECT_FALSE(column.decide());
}

TEST(DateColumn, RefusesRowsOfAnotherForm) {
  DateColumn column = column_of({"2016-07-01"});
  EXPECT_FALSE(column.add("07/01/2016"));
  EXPECT_FALSE(column.add("2016/07/01"));
  EXPECT_FALSE(column.add("2016-07-01 00:00Z"));
  EXPECT_FALSE(column.add("x"));
  EXPECT_EQ(column.rows(), 1);
}

TEST(DateColumn, KeepsTheFullestClock) {
  DateColumn column = column_of({"7/1/2016", "7/1/2016 9:00", "7/13/2016 10:00:30"});
  column.add_missing();
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(column.style().clock, DateStyle::seconds);
  EXPECT_EQ(format_date_time(at(2016, 7, 2, 9), column.style()), "7/2/2016 9:00:00");
  EXPECT_EQ(column.take_dates().back(), DateColumn::missing);
}

TEST(DateColumn, TakesTheFormOfTheFirstClock) {
  DateColumn column = column_of({"2016-07-01", "2016-07-01T09:30"});
  ASSERT_TRUE(column.decide());
  EXPECT_EQ(format_date_time(at(2016, 7, 2, 8, 15), column.style()), "2016-07-02T08:15");
  DateColumn spaced = column_of({"2016-07-01", "2016-07-01 9:30"});
  ASSERT_TRUE(spaced.decide());
  EXPECT_EQ(format_date_time(at(2016, 7, 2, 8, 15), spaced.style()), "2016-07-02 8:15");
}

TEST(DateColumn, KeepsTheLocalClockOfOneOffsetAndElseUsesUtc) {
  DateColumn same = column_of({"2016-07-01 09:00+02:00", "2016-07-01 10:00+02:00"});
  ASSERT_TRUE(same.decide());
  EXPECT_EQ(format_date_time(same.take_dates()[1], same.style()), "2016-07-01 10:00+02:00");

  DateColumn summer = column_of({"2016-03-27 01:00+01:00", "2016-03-27 03:00+02:00"});
  ASSERT_TRUE(summer.decide());
  EXPECT_EQ(summer.style().offset_minutes, 0);
  EXPECT_EQ(summer.take_dates(), (std::vector<int64_t>{at(2016, 3, 27, 0), at(2016, 3, 27, 1)}));

  // An empty cell must not shift the offsets of the rows below it.
  DateColumn gap = column_of({"2016-03-27 01:00+01:00", "2016-03-27 03:00+02:00"});
  gap.add_missing();
  EXPECT_TRUE(gap.add("2016-03-27 07:00+05:00"));
  EXPECT_TRUE(gap.add("2016-03-27 06:00+03:00"));
  ASSERT_TRUE(gap.decide());
  EXPECT_EQ(gap.take_dates(),
            (std::vector<int64_t>{at(2016, 3, 27, 0), at(2016, 3, 27, 1), DateColumn::missing,
                                  at(2016, 3, 27, 2), at(2016, 3, 27, 3)}));
}

}  // namespace
}  // namespace modewise::io
