#include "modewise/io/tables/date_time.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "modewise/io/tables/date_column.h"
#include "modewise/io/tables/date_numbers.h"
#include "modewise/io/tables/date_pattern.h"
#include "modewise/io/tables/time_names.h"

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
      // Zones.
      {"2016-07-01 09:30:15 UTC", exact},
      {"2016-07-01 09:30:15UTC", exact},
      {"2016-07-01 09:30:15.000 UTC", exact},
      {"2016-07-01 11:30 CEST", morning},
      {"2016-07-01 10:30 (CET)", morning},
      {"2016-07-01 04:30:15 EST", exact},
      {"2016-07-01 11:30 +02:00", morning},
      {"2016-07-01T11:30:15+02:00[Europe/Berlin]", exact},
      {"2016-07-01T09:30:15Z[UTC]", exact},
      {"2016-07-01 11:30 UTC+2", morning},
      {"2016-07-01 UTC", midnight},
      // Weekdays in front, RFC 1123, logs.
      {"Fri, 01 Jul 2016 09:30:15 GMT", exact},
      {"Fri, 1 Jul 2016 11:30:15 +0200", exact},
      {"Friday, July 1, 2016 9:30", morning},
      {"Fri 2016-07-01", midnight},
      {"Fr., 01.07.2016 09:30", morning},
      {"Fri Jul  1 09:30:15 2016", exact},
      {"Fri Jul 1 09:30:15 UTC 2016", exact},
      {"01/Jul/2016:09:30:15 +0000", exact},
      {"7/1/2016, 9:30:15 AM", exact},
      {"2016-07-01_09:30:15", exact},
      // Clocks.
      {"20160701T0930", morning},
      {"20160701T093015", exact},
      {"20160701T093015Z", exact},
      {"20160701 0930", morning},
      {"2016-06-30 24:00", midnight},
      {"30.06.2016 24:00:00", midnight},
      {"2016-12-31T24:00", at(2017, 1, 1)},
      {"01.07.2016 09.30.15", exact},
      {"2016-07-01 09:30:15,250", exact},
      {"07/01/2016 09:30 a.m.", morning},
      {"07/01/2016 9:30 p. m.", at(2016, 7, 1, 21, 30)},
      {"07/01/2016 12:00 A.M.", midnight},
      {"7/1/2016 9:30PM", at(2016, 7, 1, 21, 30)},
      {"7/1/2016 9 PM", at(2016, 7, 1, 21)},
      // Months, quarters, weeks, days of the year.
      {"2016M07", midnight},
      {"7/2016", midnight},
      {"07/2016", midnight},
      {"07-2016", midnight},
      {"2016/07", midnight},
      {"Jul-16", midnight},
      {"July, 2016", midnight},
      {"JUL2016", midnight},
      {"01JUL2016", midnight},
      {"01JUL2016:09:30:15", exact},
      {"July 1 2016", midnight},
      {"Q3 2016", midnight},
      {"Q3-2016", midnight},
      {"3Q2016", midnight},
      {"2016T3", midnight},
      {"2016-W26", at(2016, 6, 27)},
      {"2016-W26-5", midnight},
      {"2016W265", midnight},
      {"2020-W53", at(2020, 12, 28)},
      {"2021-W01", at(2021, 1, 4)},
      {"2016-183T09:30", morning},
      {"Q3-16", midnight},
      {"Q3'16", midnight},
      {"2016-S2", midnight},
      {"2016S1", at(2016, 1, 1)},
      {"2016-H2", midnight},
      {"2016 H1", at(2016, 1, 1)},
      {"H2 2016", midnight},
      {"2H2016", midnight},
      {"2016-W1", at(2016, 1, 4)},
      {"2016W1", at(2016, 1, 4)},
      {"Week 9 2016", at(2016, 2, 29)},
      {"Week 53, 2020", at(2020, 12, 28)},
      {"2016 Week 26", at(2016, 6, 27)},
      {"W26/2016", at(2016, 6, 27)},
      {"KW 9/2016", at(2016, 2, 29)},
      {"2016-KW26", at(2016, 6, 27)},
      // Other languages.
      {"1. Juli 2016", midnight},
      {"Juli 2016", midnight},
      {"Mär 2016", at(2016, 3, 1)},
      {"MÄRZ 2016", at(2016, 3, 1)},
      {"Mrz 2016", at(2016, 3, 1)},
      {"01-Dez-2016", at(2016, 12, 1)},
      {"Dez. 2016", at(2016, 12, 1)},
      {"1 juillet 2016 09:30", morning},
      {"janv. 2016", at(2016, 1, 1)},
      {"août 2016", at(2016, 8, 1)},
      {"1 de julio de 2016", midnight},
      {"enero 2016", at(2016, 1, 1)},
      {"01-ago-2016", at(2016, 8, 1)},
      {"lug 2016", midnight},
      {"1 okt 2016", at(2016, 10, 1)},
      {"maj 2016", at(2016, 5, 1)},
      // Intervals begin their row.
      {"01.07.2016 09:30 - 01.07.2016 10:30", morning},
      {"01.07.2016 09:30 - 10:30", morning},
      {"01/07/2016 23:00:00 - 02/07/2016 00:00:00", at(2016, 7, 1, 23)},
      {"01.07.2016 11:30 - 01.07.2016 12:30 (CEST)", morning},
      {"2016-07-01T09:30Z/2016-07-01T10:30Z", morning},
      {"2016-07-01 – 2016-08-01", midnight},
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
                           "2016.07",
                           "12.34",
                           "1.5",
                           "1.2.3",
                           "192.168.0.1",
                           "2016-07-01-",
                           "2016-07-01 ",
                           "2016-07-01x",
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
                           "20161301",
                           "201607011",
                           "2016-07-01 24:01",
                           "2016-07-01 25:00",
                           "2016-07-01 12:00 XYZ",
                           "2016-07-01 12:00 (CET",
                           "2016-07-01T09:30:15+02:00[Europe",
                           "2016-07-01 0930",
                           "2016-183",
                           "2016-W54",
                           "2021-W53",
                           "2016-W00",
                           "2016-W26-8",
                           "2016M13",
                           "13/2016",
                           "2016/13",
                           "0/2016",
                           "Jux-16",
                           "Q5 2016",
                           "Foo, 01 Jul 2016",
                           "Fri,01 Jul 2016",
                           "01.07.2016 09:30 - 01.07.2016 08:30",
                           "01.07.2016 09:30 - tomorrow",
                           "2016-07-01 - ",
                           "date",
                           "NA",
                           "-2016-07-01",
                           "1e5",
                           "July 1,2016",
                           "July-1, 2016",
                           "Jul 1, 16",
                           "Jul 2016 09:30",
                           "Jul.2016",
                           "Ju 2016",
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
                           "2016 Q4",
                           "2016-07-01 09:30:15 UTC",
                           "2016-07-01 09:30 CEST",
                           "2016-07-01 09:30 (CET)",
                           "2016-07-01 09:30 +02:00",
                           "2016-07-01 09:30+0200",
                           "2016-07-01 09:30+02",
                           "Fri, 01 Jul 2016 09:30:15 GMT",
                           "Friday, July 1, 2016 9:30",
                           "Fri Jul 1 09:30:15 2016",
                           "01/Jul/2016:09:30:15 +0000",
                           "7/31/2016, 9:30:15 AM",
                           "7/31/2016 9:30PM",
                           "20160701T0930",
                           "20160701T093015Z",
                           "2016-06-30 24:00",
                           "31.12.2016 24:00:00",
                           "Thu, 30 Jun 2016 24:00",
                           "31.07.2016 09.30.15",
                           "2016-07-01 09:30:15,000",
                           "07/31/2016 09:30 a.m.",
                           "07/31/2016 9:30 p. m.",
                           "2016M07",
                           "7/2016",
                           "07/2016",
                           "2016/07",
                           "Jul-16",
                           "July, 2016",
                           "JUL2016",
                           "01JUL2016:09:30:15",
                           "Q3 2016",
                           "3Q2016",
                           "2016-W26",
                           "2016-W26-5",
                           "2020-W53-5",
                           "2016-183T09:30",
                           "1. Juli 2016",
                           "Mär 2016",
                           "MÄRZ 2016",
                           "Dez. 2016",
                           "1 juillet 2016 09:30",
                           "janv. 2016",
                           "août 2016",
                           "1 de julio de 2016",
                           "01-ago-2016",
                           "31.07.2016 09:30 - 31.07.2016 10:30",
                           "31.07.2016 23:30 - 01.08.2016 00:30 (CET)",
                           "31.07.2016 23:30 - 00:30",
                           "2016-07-01T09:30Z/2016-07-01T10:30Z"}) {
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
  EXPECT_EQ(read_date_time("2016年07月01日")->style.text(), "%Y年%m月%d日");
  for (const auto& [unit, name] :
       {std::pair(1.0, "seconds since 1970"), std::pair(1e3, "milliseconds since 1970"),
        std::pair(1e6, "microseconds since 1970"), std::pair(1e9, "nanoseconds since 1970")})
    EXPECT_EQ(read_unix_time(std::vector{1704067200 * unit})->style.text(), name);
}

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

TEST(DatePattern, ReadsAndWrites) {
  for (const auto& [text, pattern, expected] :
       std::initializer_list<std::tuple<const char*, const char*, int64_t>>{
           {"16-07-01 09", "%y-%m-%d %H", at(2016, 7, 1, 9)},
           {"20160701", "%Y%m%d", at(2016, 7, 1)},
           {"01072016 0930", "%d%m%Y %H%M", at(2016, 7, 1, 9, 30)},
           {"2016-183", "%Y-%j", at(2016, 7, 1)},
           {"1.7.2016, 09:30 Uhr", "%d.%m.%Y, %H:%M Uhr", at(2016, 7, 1, 9, 30)},
           {"09:30 PM on Jul 01 16", "%I:%M %p on %b %d %y", at(2016, 7, 1, 21, 30)},
           {"100% 2016", "100%% %Y", at(2016, 1, 1)},
           {"Fri, 1 July 2016 09:30:15.000 +0200", "%a, %-d %B %Y %H:%M:%S.%f %z", at(2016, 7, 1, 9, 30, 15)},
           {"Freitag 2016-07-01 09", "%A %Y-%m-%d %H", at(2016, 7, 1, 9)},
           {"2016-07-01 +0200, FRI", "%Y-%m-%d %z, %a", at(2016, 7, 1)},
           {"09:30:05 a.m. 2016", "%I:%M:%S %p %Y", at(2016, 1, 1, 9, 30, 5)},
           {"2016-07-01 24", "%Y-%m-%d %H", at(2016, 7, 2)},
           {"2016-07-01 24", "%Y-%m-%d %h", at(2016, 7, 1, 23)},
           {"3/2016", "%q/%Y", at(2016, 7, 1)},
           {"2/2016", "%o/%Y", at(2016, 7, 1)},
           {"W9 2016", "W%V %G", at(2016, 2, 29)},
           {"W09 2016", "W%V %G", at(2016, 2, 29)}}) {
    std::string_view rest = text;
    const auto date = read_pattern(rest, pattern);
    ASSERT_TRUE(date) << text;
    EXPECT_EQ(rest, "");
    EXPECT_EQ(to_seconds(date->time), expected) << text;
    EXPECT_EQ(format_date_time(expected, date->style), text);
  }
  std::string_view named = "Fri 2016-07-01 Z";
  EXPECT_EQ(read_pattern(named, "%a %Y-%m-%d %z")->style.text(), "%a %Y-%m-%d %z");
  EXPECT_EQ(pattern_error("%Y-%m-%d %H:%M:%S.%f %z"), "");
  EXPECT_EQ(pattern_error("%Y-%K"),
            "the code %K is not one of %Y %y %m %d %H %I %M %S %f %p %b %B %a %A %j %q %o "
            "%G %V %u %h %z %%");
  EXPECT_EQ(pattern_error("%d.%m."), "it has no year (%Y)");
  EXPECT_EQ(pattern_error("%Y-%"), "it ends in %");
  EXPECT_EQ(pattern_error("%Y%%"), "");
  for (const auto& [text, pattern] :
       {std::pair("Fry 2016", "%a %Y"), std::pair("2016 09:30 XM", "%Y %I:%M %p"),
        std::pair("2016 9.", "%Y %H.%f"), std::pair("2016 25", "%Y %H"), std::pair("2016", "%Y %H")}) {
    std::string_view rest = text;
    EXPECT_FALSE(read_pattern(rest, pattern)) << text;
  }
  DateColumn column("%d.%m.%y");
  EXPECT_TRUE(column.add(" 01.07.16 "));
  EXPECT_FALSE(column.add("01.07.2016"));
  EXPECT_FALSE(column.add("31.02.16"));
}

TEST(ReadClock, ReadsTimesOfDay) {
  for (const auto& [text, seconds] :
       std::initializer_list<std::pair<const char*, int64_t>>{{"17:24:00", 62640},
                                                              {"17:24", 62640},
                                                              {"5:24 p.m.", 62640},
                                                              {"18.00.00", 64800},
                                                              {"24:00", 86400},
                                                              {"12:00 AM", 0},
                                                              {"0:05", 300}})
    EXPECT_EQ(read_clock(text)->seconds, seconds) << text;
  for (const char* text : {"", "5", "17", "17:60", "24:01", "x", "17:24 UTC", "2016-07-01"})
    EXPECT_FALSE(read_clock(text)) << text;
}

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
  EXPECT_FALSE(read_decimal_years(std::vector{2023.0, 2023.3}));
  EXPECT_FALSE(read_decimal_years(std::vector{2023.0, 2024.0}));
}

TEST(TimeName, KnowsWordsOfTime) {
  for (const char* name : {"time", "Date", "datetime", "TIMESTAMP", "ds", "MESS_DATUM", "ObservationDate",
                           "obs_date", "utc", "epoch", "Zeitstempel", "fecha", "unix_time", "start time",
                           "DateTime (UTC)", "observationdate", "decimal_date", "MTU (CET/CEST)"})
    EXPECT_EQ(time_name(name), TimeName::whole) << name;
  for (const char* name : {"response_time", "year", "month", "Jahr", "lead_time", "date_id"})
    EXPECT_EQ(time_name(name), TimeName::part) << name;
  for (const char* name : {"", "load", "update", "sometimes", "candidate", "temperature", "OT", "1", "gas"})
    EXPECT_EQ(time_name(name), TimeName::none) << name;
  EXPECT_EQ(name_words("ObsDate_utc2 TTime"), (std::vector<std::string>{"obs", "date", "utc", "t", "time"}));
  EXPECT_TRUE(names_hours("Hr_End"));
  EXPECT_TRUE(names_hours("HourEnding"));
  EXPECT_FALSE(names_hours("sunshine"));
}

}  // namespace
}  // namespace modewise::io
