#include "modewise/io/tables/date_time.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "modewise/io/tables/date_numbers.h"
#include "tests/io/tables/instants.h"

namespace modewise::io {
namespace {

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

}  // namespace
}  // namespace modewise::io
