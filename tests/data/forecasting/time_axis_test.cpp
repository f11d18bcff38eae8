#include "modewise/data/forecasting/time_axis.h"

#include <gmock/gmock.h>

#include <optional>

#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<int64_t> dates_of(std::initializer_list<const char*> texts) {
  std::vector<int64_t> dates;
  for (const char* text : texts) dates.push_back(io::parse_date_time(text).value());
  return dates;
}

const std::string kRemedy = "; data.dates = \"rows\" reads the rows as equally spaced";

DatedRows lay_out(std::initializer_list<const char*> texts) {
  const io::DateStyle style = io::read_date_time(*texts.begin())->style;
  return lay_out_dates(
      dates_of(texts), [](int64_t row) { return row + 2; }, style, "f.csv");
}

TEST(TimeAxis, HourlyStepsContinueBeyondTheData) {
  const DatedRows laid = lay_out({"2016-02-28 22:00:00", "2016-02-28 23:00:00", "2016-02-29 00:00:00"});
  EXPECT_EQ(laid.axis.step, 3600);
  EXPECT_EQ(laid.axis.length, 3);
  EXPECT_EQ(laid.axis.frequency_text(), "1 h");
  EXPECT_EQ(laid.axis.text_at(3), "2016-02-29 01:00:00");
  EXPECT_EQ(laid.axis.text_at(27), "2016-03-01 01:00:00");
  EXPECT_EQ(laid.axis.text_at(-1), "2016-02-28 21:00:00");
  EXPECT_THAT(laid.rows, IsEmpty());
  EXPECT_THAT(laid.notes, IsEmpty());
}

TEST(TimeAxis, FrequenciesAreNamedByTheirLargestUnit) {
  EXPECT_EQ(lay_out({"2020-01-01 00:00", "2020-01-01 00:10"}).axis.frequency_text(), "10 min");
  EXPECT_EQ(lay_out({"2020-01-01 00:00:00", "2020-01-01 00:00:07"}).axis.frequency_text(), "7 s");
  EXPECT_EQ(lay_out({"2020-01-01", "2020-01-02"}).axis.frequency_text(), "1 d");
  EXPECT_EQ(lay_out({"2020-01-01", "2020-01-08", "2020-01-15"}).axis.frequency_text(), "7 d");
  EXPECT_EQ(lay_out({"2020-01-01", "2020-04-01", "2020-07-01"}).axis.frequency_text(), "3 months");
  EXPECT_EQ(lay_out({"2015-01-01", "2016-01-01", "2017-01-01"}).axis.frequency_text(), "1 year");
}

TEST(TimeAxis, MonthsContinueOnTheCalendar) {
  const TimeAxis axis = lay_out({"2019-11-15", "2019-12-15", "2020-01-15", "2020-02-15"}).axis;
  EXPECT_EQ(axis.months, 1);
  EXPECT_EQ(axis.step, 0);
  EXPECT_EQ(axis.text_at(4), "2020-03-15");
  EXPECT_EQ(axis.text_at(14), "2021-01-15");
  EXPECT_EQ(axis.text_at(-11), "2018-12-15");
  EXPECT_EQ(axis.text_at(-12), "2018-11-15");
}

TEST(TimeAxis, MonthEndsStayAtTheEnd) {
  const TimeAxis quarters = lay_out({"2019-06-30", "2019-09-30", "2019-12-31"}).axis;
  EXPECT_EQ(quarters.months, 3);
  EXPECT_EQ(quarters.text_at(3), "2020-03-31");
  const TimeAxis months = lay_out({"2019-02-28", "2019-03-31", "2019-04-30"}).axis;
  EXPECT_EQ(months.text_at(12), "2020-02-29");
  const TimeAxis years =
      lay_out({"2017-02-28", "2018-02-28", "2019-02-28"}).axis;  // no month longer than 28 days
  EXPECT_EQ(years.months, 12);
  EXPECT_EQ(years.text_at(3), "2020-02-29");
  EXPECT_EQ(lay_out({"2019-06-30", "2019-09-30"}).axis.text_at(2), "2019-12-31");
  EXPECT_EQ(lay_out({"2019-06-30", "2019-09-30", "2019-12-30"}).axis.text_at(5), "2020-09-30");
  // The 30th of each month, clamped only in February.
  const TimeAxis thirtieth = lay_out({"2019-01-30", "2019-02-28", "2019-03-30", "2019-05-30"}).axis;
  EXPECT_EQ(thirtieth.months, 1);
  EXPECT_EQ(thirtieth.length, 5);
  EXPECT_EQ(thirtieth.text_at(6), "2019-07-30");
  EXPECT_EQ(thirtieth.text_at(13), "2020-02-29");
}

TEST(TimeAxis, MonthsKeepTheirClock) {
  const TimeAxis axis = lay_out({"2019-11-15 12:34:56", "2019-12-15 12:34:56", "2020-01-15 12:34:56"}).axis;
  EXPECT_EQ(axis.months, 1);
  EXPECT_EQ(axis.text_at(4), "2020-03-15 12:34:56");
  EXPECT_EQ(axis.text_at(-11), "2018-12-15 12:34:56");
  EXPECT_EQ(lay_out({"2019-11-15 12:34:56", "2019-12-15 12:34:57"}).axis.months, 0);
  EXPECT_EQ(lay_out({"2019-11-30 12:00:00", "2019-12-31 12:00:00"}).axis.months, 1);
  EXPECT_EQ(lay_out({"2019-11-30 12:00:00", "2019-12-31 13:00:00"}).axis.months, 0);
  EXPECT_EQ(lay_out({"2019-02-01", "2019-03-01"}).axis.frequency_text(), "1 month");  // 28 days
  EXPECT_EQ(lay_out({"2020-01-01", "2020-01-29", "2020-02-26"}).axis.frequency_text(), "28 d");
  EXPECT_EQ(lay_out({"2020-01-31", "2020-02-27"}).axis.frequency_text(), "27 d");
  EXPECT_EQ(lay_out({"2015-01-01", "2017-01-01", "2019-01-01"}).axis.frequency_text(), "2 years");
}

TEST(TimeAxis, GapsMayBeAsLongAsTheRows) {
  const DatedRows half = lay_out({"2020-01-01", "2020-01-02", "2020-01-06"});  // the smaller of two steps
  EXPECT_EQ(half.axis.length, 6);
  EXPECT_EQ(half.missing_rows, 3);
  EXPECT_THAT(error_of(ErrorKind::data,
                       [] {
                         lay_out({"2020-01-01", "2020-01-02", "2020-01-07"});
                       }),
              HasSubstr("span 7 rows, but the file has only 3: more than half would be missing"));
  EXPECT_THAT(
      lay_out({"2020-01-01", "2020-01-02", "2020-01-04", "2020-01-05", "2020-01-07", "2020-01-08"}).notes,
      ElementsAre("2 gaps of 2 rows in all are filled as missing; the longest, 1 row, comes after "
                  "2020-01-02"));
  EXPECT_EQ(error_of(ErrorKind::data, [] { TimeAxis().first_row_at(0); }),
            "a row by date was requested, but the series has no dates");
}

TEST(TimeAxis, FirstRowAtFindsBorders) {
  const TimeAxis axis = lay_out({"2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"}).axis;
  const auto row = [&](const char* text) { return axis.first_row_at(*io::parse_date_time(text)); };
  EXPECT_EQ(row("2019-01-01"), 0);
  EXPECT_EQ(row("2020-01-01"), 0);
  EXPECT_EQ(row("2020-01-01 00:00:01"), 1);
  EXPECT_EQ(row("2020-01-04"), 3);
  EXPECT_EQ(row("2021-01-01"), 4);
}

TEST(TimeAxis, GapsAreFilledWithANote) {
  const DatedRows one = lay_out({"2020-01-01", "2020-01-02", "2020-01-05", "2020-01-06"});
  EXPECT_EQ(one.axis.length, 6);
  EXPECT_EQ(one.missing_rows, 2);
  EXPECT_THAT(one.rows, ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(one.notes, ElementsAre("a gap of 2 rows after 2020-01-02 is filled as missing"));
  const DatedRows two = lay_out({"2020-01-01", "2020-01-02", "2020-01-04", "2020-01-05", "2020-01-08"});
  EXPECT_THAT(two.notes,
              ElementsAre("2 gaps of 3 rows in all are filled as missing; the longest, 2 rows, comes "
                          "after 2020-01-05"));
  const DatedRows months = lay_out({"2020-01-01", "2020-02-01", "2020-03-01", "2020-05-01"});
  EXPECT_THAT(months.rows, ElementsAre(0, 1, 2, 4));
}

TEST(TimeAxis, EqualDatesAreAnError) {
  EXPECT_EQ(error_of(ErrorKind::data,
                     [] {
                       lay_out({"2020-01-01", "2020-01-02", "2020-01-02"});
                     }),
            "f.csv:4: dates must increase, but 2020-01-02 equals the date of line 3, 2020-01-02" + kRemedy);
  EXPECT_EQ(error_of(ErrorKind::data,
                     [] {
                       lay_out({"2020-01-01 00:00:00.10", "2020-01-01 00:00:00.20"});
                     }),
            "f.csv:3: dates must increase, but 2020-01-01 00:00:00.00 equals the date of line 2, "
            "2020-01-01 00:00:00.00 (fractions of a second are not kept)" +
                kRemedy);
}

TEST(TimeAxis, DatesGoingBackAreAnError) {
  EXPECT_EQ(
      error_of(ErrorKind::data,
               [] {
                 lay_out({"2020-01-01", "2020-01-03", "2020-01-02"});
               }),
      "f.csv:4: dates must increase, but 2020-01-02 comes before the date of line 3, 2020-01-03" + kRemedy);
}

TEST(TimeAxis, IrregularStepsAreAnErrorThatSaysWhatWasFound) {
  EXPECT_EQ(
      error_of(ErrorKind::data,
               [] {
                 lay_out({"2020-01-01 00:00", "2020-01-01 01:00", "2020-01-01 02:00", "2020-01-01 02:30"});
               }),
      "f.csv:5: expected dates at a constant step (gaps allowed); the most common step is 1 h (2 of 3), but "
      "2020-01-01 02:00 and 2020-01-01 02:30 (lines 4 and 5) are 30 min apart" +
          kRemedy);
}

TEST(TimeAxis, GapsOfMoreThanHalfAreAnErrorAndAllocateNothing) {
  EXPECT_EQ(
      error_of(ErrorKind::data,
               [] {
                 lay_out({"1970-01-01 00:00:00", "1970-01-01 00:00:01", "9999-01-01 00:00:00"});
               }),
      "f.csv: at the most common step of 1 s the dates from 1970-01-01 00:00:00 to 9999-01-01 00:00:00 span "
      "253370764801 rows, but the file has only 3: more than half would be missing" +
          kRemedy);
}

TEST(TimeAxis, RowsMayBeTakenAsEquallySpacedUpToTheLastDate) {
  const std::vector<int64_t> dates = dates_of({"2020-01-01 00:00", "2020-01-01 01:00", "2020-01-01 01:00",
                                               "2020-01-01 02:00", "2020-01-01 05:00", "2020-01-01 06:00"});
  const auto line_of = [](int64_t row) { return row + 2; };
  const io::DateStyle style = io::read_date_time("2020-01-01 00:00")->style;
  const DatedRows laid = space_rows_equally(dates, line_of, style, "f.csv");
  EXPECT_EQ(laid.axis.length, 6);
  EXPECT_THAT(laid.rows, IsEmpty());
  EXPECT_EQ(laid.axis.text_at(5), "2020-01-01 06:00");
  EXPECT_EQ(laid.axis.text_at(0), "2020-01-01 01:00");
  EXPECT_EQ(laid.axis.text_at(6), "2020-01-01 07:00");
  EXPECT_THAT(laid.notes,
              ElementsAre("the rows are read as 1 h apart up to 2020-01-01 06:00, although 2 of 5 differ, "
                          "first in line 4"));
  const std::vector<int64_t> months =
      dates_of({"2020-01-31", "2020-02-29", "2020-04-30", "2020-05-31", "2020-06-30"});
  EXPECT_EQ(space_rows_equally(months, line_of, {}, "f.csv").axis.months, 1);
  EXPECT_EQ(space_rows_equally(months, line_of, style, "f.csv").axis.at(-1),
            io::parse_date_time("2020-01-31").value());
  const std::vector<int64_t> equal = {5, 5, 5};
  EXPECT_EQ(error_of(ErrorKind::data, [&] { space_rows_equally(equal, line_of, style, "f.csv"); }),
            "f.csv: expected at least 2 rows with increasing dates, got none");
}

TEST(TimeAxis, OneRowHasNoStep) {
  EXPECT_EQ(error_of(ErrorKind::data, [] { lay_out({"2020-01-01"}); }),
            "f.csv: expected at least 2 dated rows, got 1");
}

TEST(TimeAxis, AMissingDateIsAnError) {
  const std::vector<int64_t> dates = {0, INT64_MIN, 7200};
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       lay_out_dates(
                           dates, [](int64_t row) { return row + 2; }, {}, "f.csv");
                     }),
            "f.csv:3: expected a date, the cell is empty");
  const std::vector<int64_t> first = {INT64_MIN, 0, 7200};
  for (const auto& [given, line] : {std::pair(dates, 3), std::pair(first, 2)})
    EXPECT_EQ(error_of(ErrorKind::data,
                       [&, &given = given] {
                         space_rows_equally(
                             given, [](int64_t row) { return row + 2; }, {}, "f.csv");
                       }),
              fmt::format("f.csv:{}: expected a date, the cell is empty", line));
}

TEST(TimeAxis, WithoutDatesRowsAreNumbers) {
  TimeAxis axis;
  axis.length = 5;
  EXPECT_EQ(axis.at(7), 7);
  EXPECT_EQ(axis.text_at(7), "7");
  EXPECT_EQ(axis.frequency_text(), "rows");
}

DatedRows pooled(std::initializer_list<const char*> texts, const char* step) {
  const io::DateStyle style = io::read_date_time(*texts.begin())->style;
  return pool_dates(
      dates_of(texts), parse_step(step, "data.resample"), [](int64_t row) { return row + 2; }, style,
      "f.csv");
}

TEST(PoolDates, StepsBeginOnMondaysAndFirstsOfMonthsBefore1970Too) {
  DatedRows days =
      pooled({"2026-11-22", "2026-11-23", "2026-11-29", "2026-11-30"}, "1 week");  // Sunday, Monday …
  EXPECT_THAT(days.rows, ElementsAre(0, 1, 1, 2));
  EXPECT_EQ(days.axis.text_at(0), "2026-11-16");
  EXPECT_EQ(days.axis.text_at(3), "2026-12-07");
  days = pooled({"1969-12-31 23:00", "1970-01-01 00:00", "1970-01-01 01:00"}, "1 day");
  EXPECT_THAT(days.rows, ElementsAre(0, 1, 1));
  EXPECT_EQ(days.axis.text_at(0), "1969-12-31 00:00");
  const DatedRows months = pooled({"2020-01-31", "2020-02-01", "2020-02-29", "2020-04-15"}, "1 month");
  EXPECT_THAT(months.rows, ElementsAre(0, 1, 1, 3));
  EXPECT_EQ(months.missing_rows, 1);
  EXPECT_EQ(months.axis.frequency_text(), "1 month");
  EXPECT_EQ(months.axis.text_at(4), "2020-05-01");
  const DatedRows quarters = pooled({"2019-12-31", "2020-01-01", "2020-03-31", "2020-04-01"}, "1 quarter");
  EXPECT_THAT(quarters.rows, ElementsAre(0, 1, 1, 2));
  EXPECT_EQ(quarters.axis.text_at(0), "2019-10-01");
}

TEST(PoolDates, AStepAsLongAsThatOfTheDatesKeepsThem) {
  EXPECT_THAT(pooled({"2020-01-01", "2020-02-01", "2020-03-01"}, "1 month").rows, ElementsAre(0, 1, 2));
  EXPECT_THAT(pooled({"2020-01-01 00:00", "2020-01-01 01:00"}, "60 min").rows, ElementsAre(0, 1));
  EXPECT_EQ(error_of(ErrorKind::data,
                     [] {
                       pooled({"2020-01-01", "2020-04-01"}, "1 month");
                     }),
            "f.csv: data.resample = 1 month is shorter than the step of the rows: half of them or more are "
            "91 d apart or farther");
}

TEST(ParseStep, ReadsUnitsAndRefusesOthers) {
  const auto seconds = [](const char* text) { return parse_step(text, "data.step").seconds; };
  EXPECT_EQ(seconds("1 h"), 3600);
  EXPECT_EQ(seconds("15min"), 900);
  EXPECT_EQ(seconds("30 Minutes"), 1800);
  EXPECT_EQ(seconds("day"), 86400);
  EXPECT_EQ(seconds("2 weeks"), 1209600);
  EXPECT_EQ(seconds("5 s"), 5);
  const std::pair<const char*, int64_t> units[] = {
      {"s", 1},     {"sec", 1},     {"second", 1}, {"min", 60},      {"h", 3600},   {"hour", 3600},
      {"d", 86400}, {"day", 86400}, {"w", 604800}, {"week", 604800}, {"minute", 60}};
  for (const auto& [unit, size] : units)
    EXPECT_EQ(parse_step(std::string("3 ") + unit, "data.step").seconds, 3 * size) << unit;
  EXPECT_EQ(parse_step("2 quarters", "data.step").months, 6);
  EXPECT_EQ(parse_step("year", "data.step").months, 12);
  EXPECT_EQ(seconds("1000000 s"), 1000000);
  EXPECT_THAT(error_of(ErrorKind::config, [] { parse_step("1000001 s", "data.step"); }),
              HasSubstr("got '1000001 s'"));
  EXPECT_EQ(parse_step("1 month", "data.step").months, 1);
  EXPECT_EQ(parse_step("2 years", "data.step").months, 24);
  for (const char* text :
       {"", "0 h", "5", "1 fortnight", "-1 h", "99999999999999999999 h", "1 h 2", "1 hs", "1 ds"})
    EXPECT_THAT(error_of(ErrorKind::config, [&] { parse_step(text, "data.step"); }),
                HasSubstr("data.step: expected a number and a unit"))
        << text;
}

}  // namespace
}  // namespace modewise::data
