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

const std::string kEqually = ", data.dates = \"rows\" reads the rows as equally spaced";

const std::string kRepeats =
    "; data.id names the columns of the series ids of a long table, data.resample = \"1 day\" or another "
    "step "
    "pools equal dates";

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
            "f.csv:4: dates must increase, but 2020-01-02 equals the date of line 3, 2020-01-02" + kRepeats);
  EXPECT_EQ(error_of(ErrorKind::data,
                     [] {
                       lay_out({"2020-01-01 00:00:00.10", "2020-01-01 00:00:00.20"});
                     }),
            "f.csv:3: dates must increase, but 2020-01-01 00:00:00.00 equals the date of line 2, "
            "2020-01-01 00:00:00.00 (fractions of a second are not kept)" +
                kRepeats +
                ", a column of zones or UTC offsets tells the hour apart that repeats at the end of daylight "
                "saving time, and so does data.time_zone = \"Europe/Berlin\" or another zone");
}

TEST(TimeAxis, DatesGoingBackAreAnError) {
  EXPECT_EQ(error_of(ErrorKind::data,
                     [] {
                       lay_out({"2020-01-01", "2020-01-03", "2020-01-02"});
                     }),
            "f.csv:4: dates must increase, but 2020-01-02 comes before the date of line 3, 2020-01-03; "
            "data.resample = \"1 d\" or another step pools dates" +
                kEqually);
}

TEST(TimeAxis, IrregularStepsAreAnErrorThatSaysWhatWasFound) {
  EXPECT_EQ(
      error_of(ErrorKind::data,
               [] {
                 lay_out({"2020-01-01 00:00", "2020-01-01 01:00", "2020-01-01 02:00", "2020-01-01 02:30"});
               }),
      "f.csv:5: expected dates at a constant step (gaps allowed); the most common step is 1 h (2 of 3), but "
      "2020-01-01 02:00 and 2020-01-01 02:30 (lines 4 and 5) are 30 min apart; data.resample = \"1 h\" or "
      "another step pools dates" +
          kEqually);
}

TEST(TimeAxis, GapsOfMoreThanHalfAreAnErrorAndAllocateNothing) {
  EXPECT_EQ(
      error_of(ErrorKind::data,
               [] {
                 lay_out({"1970-01-01 00:00:00", "1970-01-01 00:00:01", "9999-01-01 00:00:00"});
               }),
      "f.csv: at the most common step of 1 s the dates from 1970-01-01 00:00:00 to 9999-01-01 00:00:00 span "
      "253370764801 rows, but the file has only 3: more than half would be missing; data.resample pools "
      "dates "
      "to a longer step" +
          kEqually);
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
            "f.csv:3: expected a date, the cell is empty; data.skip_lines = 3 leaves the line out");
  const std::vector<int64_t> first = {INT64_MIN, 0, 7200};
  for (const auto& [given, line] : {std::pair(dates, 3), std::pair(first, 2)})
    EXPECT_EQ(
        error_of(ErrorKind::data,
                 [&, &given = given] {
                   space_rows_equally(
                       given, [](int64_t row) { return row + 2; }, {}, "f.csv");
                 }),
        fmt::format("f.csv:{}: expected a date, the cell is empty; data.skip_lines = {} leaves the line out",
                    line, line));
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

std::vector<int64_t> days_of(const char* first, int64_t count, auto&& exists) {
  std::vector<int64_t> dates;
  for (int64_t i = 0; i < count; ++i)
    if (exists(i)) dates.push_back(io::parse_date_time(first).value() + 86400 * i);
  return dates;
}

DatedRows laid_by(const std::vector<int64_t>& dates, const std::string& days,
                  std::vector<int64_t> week = {}) {
  io::DateStyle style;
  style.clock = io::DateStyle::no_clock;
  return lay_out_dates(dates, [](int64_t row) { return row + 2; }, style, "f.csv", {days, std::move(week)});
}

constexpr auto kWeekday = [](int64_t day) { return day % 7 < 5; };  // from a Monday

TEST(BusinessDays, AreTheAxisOfTwoWeeksWithoutWeekends) {
  std::vector<int64_t> dates =
      days_of("2023-12-25", 20, [](int64_t day) { return kWeekday(day) && day != 7; });
  const DatedRows laid = laid_by(dates, "auto");
  EXPECT_EQ(laid.axis.length, 15);
  EXPECT_EQ(laid.missing_rows, 1);
  EXPECT_THAT(laid.rows, ElementsAre(0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14));
  EXPECT_EQ(laid.axis.frequency_text(), "1 business day");
  EXPECT_EQ(laid.axis.text_at(5), "2024-01-01");
  EXPECT_EQ(laid.axis.text_at(15), "2024-01-15");
  EXPECT_EQ(laid.axis.text_at(-1), "2023-12-22");
  EXPECT_EQ(laid.axis.first_row_at(*io::parse_date_time("2023-12-30")), 5);
  EXPECT_EQ(laid.axis.row_of(*io::parse_date_time("2023-12-30")), 5);
  EXPECT_EQ(laid.axis.row_of(*io::parse_date_time("2023-12-21")), -2);
  EXPECT_THAT(laid.notes,
              ElementsAre("the calendar of the rows is Monday to Friday; 1 of its rows is filled as "
                          "missing; data.calendar_days = all makes every step a row"));
  EXPECT_EQ(laid_by(dates, "all").axis.length, 19);
  dates.resize(9);  // less than two weeks
  EXPECT_EQ(laid_by(dates, "auto").axis.length, 12);
  EXPECT_EQ(laid_by(dates, "business").axis.length, 10);
  EXPECT_EQ(laid_by(dates, "observed").axis.frequency_text(), "1 business day");
}

TEST(BusinessDays, ADateOutsideTheCalendarIsAnError) {
  const std::vector<int64_t> dates = days_of("2024-01-01", 9, [](int64_t) { return true; });
  const std::string sentence =
      "f.csv:7: 2024-01-06 is outside the calendar of the rows, Monday to Friday; data.calendar_days = all "
      "makes "
      "every step a row";
  EXPECT_EQ(error_of(ErrorKind::data, [&] { laid_by(dates, "business"); }), sentence);
  const std::vector<int64_t> week = {0, 86400, 172800, 259200, 345600};
  EXPECT_EQ(error_of(ErrorKind::data, [&] { laid_by(dates, "auto", week); }), sentence);
}

TEST(WeeklyCalendar, NeedsMoreThanChance) {
  // A day that is missing in two of two weeks may be missing by chance; in five of five it is not.
  const auto no_wednesday = [](int64_t day) { return day % 7 != 2; };
  EXPECT_THAT(laid_by(days_of("2024-01-01", 16, no_wednesday), "auto").axis.week, IsEmpty());
  const TimeAxis axis = laid_by(days_of("2024-01-01", 40, no_wednesday), "auto").axis;
  EXPECT_THAT(axis.week, testing::SizeIs(6));
  EXPECT_EQ(axis.frequency_text(), "1 d, Monday, Tuesday, Thursday, Friday, Saturday, Sunday");
  // Days missing here and there leave no day of the week out.
  EXPECT_THAT(laid_by(days_of("2024-01-01", 60, [](int64_t day) { return day % 5 != 3; }), "auto").axis.week,
              IsEmpty());
  EXPECT_EQ(laid_by(days_of("2024-01-01", 60, [](int64_t day) { return day % 7 != 6; }), "auto")
                .axis.frequency_text(),
            "1 d, Monday to Saturday");
}

TEST(TimeAxis, MonthsMayHaveBusinessDays) {
  const TimeAxis ends = lay_out({"2024-01-31", "2024-02-29", "2024-03-28", "2024-04-30", "2024-05-31",
                                 "2024-06-28"})  // Good Friday is on 29 March
                            .axis;
  EXPECT_EQ(ends.frequency_text(), "1 month (last business day)");
  EXPECT_EQ(ends.text_at(7), "2024-08-30");
  EXPECT_EQ(ends.text_at(9), "2024-10-31");
  EXPECT_EQ(ends.first_row_at(*io::parse_date_time("2024-05-31")), 4);
  const TimeAxis begins =
      lay_out({"2024-04-01", "2024-07-01", "2024-10-01", "2025-01-02", "2025-04-01"}).axis;
  EXPECT_EQ(begins.months, 3);
  const TimeAxis first = lay_out({"2024-05-01", "2024-06-03", "2024-07-01", "2024-08-01", "2024-09-02"}).axis;
  EXPECT_EQ(first.frequency_text(), "1 month (first business day)");
  EXPECT_EQ(first.text_at(7), "2024-12-02");
  EXPECT_EQ(first.text_at(-2), "2024-03-01");
}

TEST(TimeAxis, ShowsChangesOfTheClock) {
  TimeAxis axis =
      lay_out({"2024-10-27 00:00", "2024-10-27 01:00", "2024-10-27 02:00", "2024-10-27 03:00"}).axis;
  axis.clock_changes = {{io::parse_date_time("2024-10-27 03:00").value(), -3600}};
  EXPECT_EQ(axis.text_at(2), "2024-10-27 02:00");
  EXPECT_EQ(axis.text_at(3), "2024-10-27 02:00");
  EXPECT_EQ(axis.text_at(4), "2024-10-27 03:00");
  axis.length = 6;
  EXPECT_EQ(axis.first_row_at(*io::parse_date_time("2024-10-27 01:00")), 1);
  EXPECT_EQ(axis.first_row_at(*io::parse_date_time("2024-10-27 02:00")), 2);
  EXPECT_EQ(axis.first_row_at(*io::parse_date_time("2024-10-27 03:00")), 4);
  EXPECT_EQ(axis.first_row_at(*io::parse_date_time("2024-10-28 03:00")), 6);
}

TEST(PoolDates, KeepsTheCalendar) {
  std::vector<int64_t> dates;
  for (const int64_t day : days_of("2024-01-01", 19, kWeekday))
    for (const int64_t hour : {9, 12, 15}) dates.push_back(day + 3600 * hour);
  const DatedRows laid =
      pool_dates(dates, {86400, 0}, [](int64_t row) { return row + 2; }, {}, "f.csv", {"auto", {}});
  EXPECT_EQ(laid.axis.length, 15);
  EXPECT_EQ(laid.missing_rows, 0);
  EXPECT_EQ(laid.rows[15], 5);
  EXPECT_EQ(laid.axis.frequency_text(), "1 business day");
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
