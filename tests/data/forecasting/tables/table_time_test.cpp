// The time of the rows of a table: which columns, in which form.

#include "modewise/data/forecasting/tables/table_time.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <tuple>
#include <vector>

#include "modewise/io/tables/time_zone.h"
#include "tests/data/forecasting/table_test.h"

namespace modewise::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class TableTimes : public TableTest {
 protected:
  /// "first row .. row after the last (step)"
  std::string span(const Series& s) {
    return s.time.text_at(0) + " .. " + s.time.text_at(s.rows()) + " (" + s.time.frequency_text() + ")";
  }
};

std::string rows(const std::vector<const char*>& times, const char* header = "date,y") {
  std::string text = std::string(header) + "\n";
  int value = 0;
  for (const char* time : times) text += std::string(time) + "," + std::to_string(++value) + "\n";
  return text;
}

TEST_F(TableTimes, NumbersAreDatesWhereTheNameSaysTime) {
  const std::tuple<const char*, std::vector<const char*>, const char*> cases[] = {
      {"MESS_DATUM", {"2024010100", "2024010101", "2024010102"}, "2024010100 .. 2024010103 (1 h)"},
      {"timestamp",
       {"202401010000", "202401010015", "202401010030"},
       "202401010000 .. 202401010045 (15 min)"},
      {"date", {"200011", "200012", "200101"}, "200011 .. 200102 (1 month)"},
      {"ObservationDate", {"20230131", "20230201", "20230202"}, "20230131 .. 20230203 (1 d)"},
      {"time",
       {"1704067200000000000", "1704070800000000000", "1704074400000000000"},
       "1704067200000000000 .. 1704078000000000000 (1 h)"},
      {"Date", {"45292", "45293", "45294"}, "45292 .. 45295 (1 d)"},
      {"Date", {"45292", "45292.5", "45293"}, "45292 .. 45293.5 (12 h)"},
      {"decimal_date", {"1990.0417", "1990.1250", "1990.2083"}, "1990.0417 .. 1990.2917 (1 month)"},
      {"Jahr", {"1990", "1991", "1992"}, "1990 .. 1993 (1 year)"},
      {"x", {"2024010100", "2024010101", "2024010102"}, "2024010100 .. 2024010103 (1 h)"},
  };
  for (const auto& [name, times, expected] : cases) {
    const Series s = load(rows(times, (std::string(name) + ",y").c_str()));
    EXPECT_EQ(span(s), expected) << name;
    EXPECT_THAT(s.modes[0].labels, ElementsAre("y")) << name;
    EXPECT_THAT(s.warnings, IsEmpty()) << name;
  }
  EXPECT_EQ(span(load("id,ds,y\na,202001,1\na,202002,2\nb,202001,3\nb,202002,4\n")),
            "202001 .. 202003 (1 month)");
}

TEST_F(TableTimes, AColumnNamedTimeThatIsNotUnderstoodStopsWithTheOptions) {
  EXPECT_EQ(load_error(ErrorKind::data, "Time,y\n0,1\n3,2\n4,3\n"),
            "f.csv: the name of column 'Time' says time, but its numbers are not understood as dates ('0' in "
            "line 2): "
            "data.time_format describes their form (such as %d.%m.%Y %H:%M, epoch_s, excel), data.time names "
            "another "
            "column, data.drop = Time reads the rows without dates");
  EXPECT_THAT(load_error(ErrorKind::data, "date,y\n,0\nmorning,1\nevening,2\n"),
              HasSubstr("its texts are not understood as dates ('morning' in line 3)"));
  ForecastDataConfig config;
  config.drop = {"Time"};
  const Series dropped = load("Time,y\n0,1\n3,2\n4,3\n", config);
  EXPECT_FALSE(dropped.time.dated);
  EXPECT_THAT(dropped.modes[0].labels, ElementsAre("y"));
  config = {};
  config.columns = {"Time", "y"};
  EXPECT_THAT(load("Time,y\n0,1\n3,2\n4,3\n", config).modes[0].labels, ElementsAre("Time", "y"));
}

TEST_F(TableTimes, NumbersThatOnlyLookLikeTimeAreNamed) {
  Series s = load("y,run\n5,2024010100\n6,2024010101\n7,2024010102\n");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("y", "run"));
  EXPECT_THAT(s.warnings,
              ElementsAre("the numbers of column 'run' rise and look like dates ('2024010100' in line 2), "
                          "but are taken as a variable: data.time = run reads them as the time"));
  ForecastDataConfig config;
  config.time = {"run"};
  EXPECT_EQ(span(load("y,run\n5,2024010100\n6,2024010101\n7,2024010102\n", config)),
            "2024010100 .. 2024010103 (1 h)");
  s = load("time,y\n0,1\n0.1,2\n0.2,3\n");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("y"));
  EXPECT_THAT(s.warnings, ElementsAre(HasSubstr("column 'time' rise evenly and are not dates")));
}

TEST_F(TableTimes, HoursAndMinutesAreDigits) {
  for (const auto& [cells, begin, end] :
       std::initializer_list<std::tuple<std::vector<const char*>, const char*, const char*>>{
           {{"0", "30", "100", "130"}, "2024-01-01 00:00", "2024-01-01 02:00"},
           {{"2230", "2300", "2330", "2400"}, "2024-01-01 22:30", "2024-01-02 00:30"},
           {{"0930", "1000", "1100"}, "2024-01-01 09:30", "2024-01-01 11:30"}}) {
    std::string text = "date,hour,y\n";
    for (const char* cell : cells) text += std::string("2024-01-01,") + cell + ",5\n";
    const Series s = load(text);
    EXPECT_EQ(s.time.text_at(0), begin);
    EXPECT_EQ(s.time.text_at(s.rows()), end);
    EXPECT_EQ(s.time.frequency_text(), "30 min");
    EXPECT_THAT(s.notes, testing::Contains(HasSubstr(
                             "columns 'date' and 'hour' together are the time of a row ('hour': hhmm)")));
  }
}

TEST_F(TableTimes, AFrameIndexIsNoVariable) {
  for (const char* index : {"0 1 2", "0 1 4", "4 0 9", "0 1 0"}) {
    std::string text = ",date,y\n";
    for (int row = 0; row < 3; ++row)
      text += std::string(1, index[2 * row]) + ",2024-01-0" + std::to_string(row + 1) + ",5\n";
    const Series s = load(text);
    EXPECT_THAT(s.modes[0].labels, ElementsAre("y")) << index;
    EXPECT_THAT(s.notes, ElementsAre("column 'column 1' is a row index and is dropped"));
  }
  // A frame that was saved with its index and read again, twice.
  EXPECT_THAT(
      load(",Unnamed: 0.1,Unnamed: 0,date,y\n0,7,2,2024-01-01,5\n1,3,9,2024-01-02,6\n").modes[0].labels,
      ElementsAre("y"));
  // Fractions are a variable.
  const Series rising = load(",y\n0.1,5\n0.2,6\n0.3,4\n0.4,7\n");
  EXPECT_THAT(rising.modes[0].labels, ElementsAre("column 1", "y"));
  EXPECT_THAT(rising.warnings, ElementsAre(HasSubstr("rise evenly, but are taken as a variable")));
  EXPECT_THAT(load(",date,y\n5.5,2024-01-01,5\n6,2024-01-02,5\n").modes[0].labels,
              ElementsAre("column 1", "y"));
}

TEST_F(TableTimes, DateAndTimeInTwoColumnsAreOneTime) {
  const std::string clock =
      "Date;Time;y\n16/12/2006;23:58:00;1\n16/12/2006;23:59:00;2\n17/12/2006;00:00:00;3\n17/12/"
      "2006;00:01:00;4\n";
  Series s = load(clock);
  EXPECT_EQ(span(s), "16/12/2006 23:58:00 .. 17/12/2006 00:02:00 (1 min)");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("y"));
  EXPECT_THAT(s.notes, ElementsAre("columns 'Date' and 'Time' together are the time of a row"));
  EXPECT_THAT(s.time_columns.names, ElementsAre("Date", "Time"));
  EXPECT_THAT(time_cells(s.time_columns, s.time.at(4)), ElementsAre("17/12/2006", "00:02:00"));
  ForecastDataConfig config;
  config.time = {"Date", "Time"};
  EXPECT_EQ(span(load(clock, config)), span(s));
}

/// Two days of rows with numbers from `first` on, `count` a day.
std::string two_days(const char* header, int first, int count) {
  std::string text = std::string(header) + "\n";
  for (const char* day : {"2024-01-01", "2024-01-02"})
    for (int i = 0; i < count; ++i) text += std::string(day) + "," + std::to_string(first + i) + ",5\n";
  return text;
}

TEST_F(TableTimes, HoursAndPeriodsOfTheDayAreClocks) {
  const std::tuple<const char*, int, int, const char*, const char*> cases[] = {
      {"date,hour,y", 0, 24, "2024-01-01 00:00 .. 2024-01-03 00:00 (1 h)", "0"},
      {"Date,Hr_End,y", 1, 24, "2024-01-01 00:00 .. 2024-01-03 00:00 (1 h)", "1"},
      {"YYYYMMDD,HH,y", 1, 24, "2024-01-01 00:00 .. 2024-01-03 00:00 (1 h)", "1"},
      {"Settlement Date,Settlement Period,y", 1, 48, "2024-01-01 00:00 .. 2024-01-03 00:00 (30 min)", "1"},
      {"date,minute,y", 0, 1440, "2024-01-01 00:00 .. 2024-01-03 00:00 (1 min)", "0"},
  };
  for (const auto& [header, first, count, expected, cell] : cases) {
    const Series s = load(two_days(header, first, count));
    EXPECT_EQ(span(s), expected) << header;
    EXPECT_THAT(time_cells(s.time_columns, s.time.at(s.rows())), ElementsAre("2024-01-03", cell)) << header;
  }
  const Series ending = load("Date,HourEnding,y\n2024-01-01,01,1\n2024-01-01,02,2\n2024-01-01,03,3\n");
  EXPECT_THAT(ending.notes,
              ElementsAre("columns 'Date' and 'HourEnding' together are the time of a row ('HourEnding': "
                          "hours 1 to 24, which end at their number: 1 is 00:00 to 01:00)"));
  EXPECT_THAT(time_cells(ending.time_columns, ending.time.at(3)), ElementsAre("2024-01-01", "04"));
  EXPECT_EQ(load("Date,Hr_End,y\n2024-11-03,01,1\n2024-11-03,02,2\n2024-11-03,02X,3\n").rows(), 3)
      << "the repeated hour";
  const Series midnight = load("day,clock,y\n2024-01-01,12:00,1\n2024-01-01,24:00,2\n2024-01-02,12:00,3\n");
  EXPECT_EQ(span(midnight), "2024-01-01 12:00 .. 2024-01-03 00:00 (12 h)");
  EXPECT_THAT(time_cells(midnight.time_columns, midnight.time.at(3)), ElementsAre("2024-01-02", "24:00"));
}

TEST_F(TableTimes, SundaysOfTwentyThreeAndTwentyFiveHoursChangeTheClock) {
  const std::tuple<const char*, int, int64_t, const char*> days[] = {
      {"2024-03-31", 23, 2, "2024-03-31 has 23 hours: the clock changes at 03:00"},
      {"2024-10-27", 25, 3, "2024-10-27 has 25 hours: the clock changes at 03:00"},
      {"2024-11-05", 25, 0, ""}};  // a Tuesday
  for (const auto& [day, hours, change, note] : days) {
    std::string text = "date,hr_end,y\n";
    for (int hour = 1; hour <= hours; ++hour) text += fmt::format("{},{},{}\n", day, hour, hour);
    const Series s = load(text);
    EXPECT_EQ(s.rows(), hours) << day;
    EXPECT_EQ(s.time.step, 3600) << day;
    if (change == 0) {
      EXPECT_THAT(s.notes, Not(Contains(HasSubstr("the clock changes")))) << day;
      continue;
    }
    EXPECT_THAT(s.notes, Contains(note));
    // The last hour of the day begins at 23:00, however many hours it has.
    EXPECT_THAT(s.time.text_at(hours - 1), HasSubstr("23:00")) << day;
    EXPECT_THAT(s.time.text_at(change - 1), HasSubstr(hours == 23 ? "01:00" : "02:00")) << day;
    EXPECT_THAT(s.time.text_at(change), HasSubstr(hours == 23 ? "03:00" : "02:00")) << day;
  }
}

TEST_F(TableTimes, ColumnsBesidesDatesThatAreNoClocksStayWhatTheyAre) {
  // One value a date: opening hours, sunrise.
  std::string hours = "date,store,hours,y\n", sunrise = "date,store,sunrise,y\n";
  for (const char* store : {"a", "b"})
    for (int day = 1; day <= 9; ++day) {
      const std::string date = "2024-01-0" + std::to_string(day) + "," + store;
      hours += date + "," + std::to_string(8 + day % 3) + ",5\n";
      sunrise += date + ",07:1" + std::to_string(9 - day) + ",5\n";
    }
  EXPECT_EQ(span(load(hours)), "2024-01-01 .. 2024-01-10 (1 d)");
  EXPECT_EQ(span(load(sunrise)), "2024-01-01 .. 2024-01-10 (1 d)");
  EXPECT_THAT(load_error(ErrorKind::data, "date,Time,y\n2024-01-01,early,1\n2024-01-01,late,2\n"),
              testing::AllOf(
                  HasSubstr("the dates of column 'date' repeat, and column 'Time' is not understood as their "
                            "clock times ('early' in line 2)"),
                  HasSubstr("data.time = [\"date\", \"Time\"]"), HasSubstr("data.id = Time")));
}

TEST_F(TableTimes, TheClockDecidesDayAndMonth) {
  std::string text = "Date,Time,y\n";
  for (const char* day : {"01/02/2024", "02/02/2024", "03/02/2024"})
    for (const char* clock : {"00:00", "12:00"}) text += std::string(day) + "," + clock + ",5\n";
  const Series s = load(text);
  EXPECT_EQ(span(s), "01/02/2024 00:00 .. 04/02/2024 00:00 (12 h)");
  EXPECT_THAT(s.warnings, IsEmpty());
}

TEST_F(TableTimes, TheFormatMayBeGiven) {
  ForecastDataConfig config;
  config.time_format = "%d%m%y %H%M";
  const std::string text = rows({"010724 0000", "010724 0030", "010724 0100"});
  EXPECT_EQ(span(load(text, config)), "010724 0000 .. 010724 0130 (30 min)");
  EXPECT_EQ(load_error(ErrorKind::data, rows({"010724 0000", "2024-07-01"}), config),
            "f.csv:3: data.time_format = %d%m%y %H%M does not fit '2024-07-01' in column 'date'");
  config.time_format = "%d%m%Y";
  EXPECT_EQ(span(load(rows({"01072024", "02072024", "03072024"}), config)), "01072024 .. 04072024 (1 d)");
  config.time_format = "epoch_s";
  config.time = {"a"};
  const Series seconds = load("a,y\n0,1\n60,2\n120,3\n", config);
  EXPECT_EQ(seconds.time.at(2), 120);
  EXPECT_EQ(span(seconds), "0 .. 180 (1 min)");
  config.time_format = "excel";
  EXPECT_EQ(load_error(ErrorKind::data, "a,y\n0,1\n60,2\n120,3\n", config),
            "f.csv: data.time_format = excel does not fit the numbers of column 'a', such as '0' in line 2");
  config.time_format = "%Y-%Q";
  EXPECT_THAT(load_error(ErrorKind::config, text, config),
              HasSubstr("data.time_format = %Y-%Q: the code %Q is not one"));
  config.time_format = "iso";
  EXPECT_THAT(load_error(ErrorKind::config, text, config),
              HasSubstr("data.time_format: expected codes such as %Y-%m-%d %H:%M or one of epoch_s"));
  config = {};
  config.time_format = "%d.%m.%Y %H.%M h";
  config.time = {"day", "at"};
  const Series two = load("day,at,y\n1.7.2024,9.00 h,1\n1.7.2024,10.00 h,2\n", config);
  EXPECT_EQ(span(two), "1.7.2024 9.00 h .. 1.7.2024 11.00 h (1 h)");
  EXPECT_THAT(time_cells(two.time_columns, two.time.at(2)), ElementsAre("1.7.2024", "11.00 h"));
  config.time_column = "day";
  EXPECT_EQ(load_error(ErrorKind::config, text, config),
            "data.time_column is the earlier name of data.time: set only one of them");
}

TEST_F(TableTimes, LocalTimesOfAZoneKeepTheirClock) {
  if (io::TimeZone::find("Europe/Berlin") == nullptr) GTEST_SKIP() << "no time zones on this system";
  ForecastDataConfig config;
  config.time_zone = "Europe/Berlin";
  const Series autumn =
      load(rows({"2024-10-27 01:00", "2024-10-27 02:00", "2024-10-27 02:00", "2024-10-27 03:00"}), config);
  EXPECT_EQ(span(autumn), "2024-10-27 01:00 .. 2024-10-27 04:00 (1 h)");
  EXPECT_EQ(autumn.time.at(0), io::to_seconds({2024, 10, 26, 23}));
  EXPECT_EQ(autumn.time.text_at(1), autumn.time.text_at(2));
  EXPECT_THAT(autumn.notes, ElementsAre("the times are local times of Europe/Berlin"));
  const Series quarters = load(rows({"2024-10-27 02:00", "2024-10-27 02:30", "2024-10-27 02:00",
                                     "2024-10-27 02:30", "2024-10-27 03:00"}),
                               config);
  EXPECT_EQ(quarters.rows(), 5);
  const Series spring = load(rows({"2024-03-31 00:00", "2024-03-31 01:00", "2024-03-31 03:00"}), config);
  EXPECT_EQ(span(spring), "2024-03-31 00:00 .. 2024-03-31 04:00 (1 h)");
  EXPECT_EQ(load_error(ErrorKind::data, rows({"2024-03-31 01:00", "2024-03-31 02:00"}), config),
            "f.csv:3: 2024-03-31 02:00 does not exist in Europe/Berlin (data.time_zone), where clocks go "
            "forward then");
  const Series offset = load(rows({"2024-03-31 00:00 UTC", "2024-03-31 01:00 UTC"}), config);
  EXPECT_THAT(offset.notes,
              ElementsAre("the times of column 'date' are read by their UTC offset, not by data.time_zone"));
  config.time_zone = "Europe/Berlim";
  EXPECT_EQ(load_error(ErrorKind::config, rows({"2024-03-31", "2024-04-01"}), config),
            "data.time_zone: expected a name such as Europe/Berlin or an offset such as +01:00, got "
            "'Europe/Berlim' "
            "(not found in /usr/share/zoneinfo)");
}

TEST_F(TableTimes, FractionsOfASecondStop) {
  const std::string text = rows({"1704067200000", "1704067200500", "1704067201000", "1704067201500"});
  EXPECT_EQ(load_error(ErrorKind::data, text),
            "f.csv: column 'date' holds milliseconds since 1970 in steps of less than a second "
            "('1704067200500' in line "
            "3), but times are kept in whole seconds: data.resample = \"1 s\" averages them, data.drop = "
            "date reads the "
            "rows without dates");
  ForecastDataConfig config;
  config.resample = "1 s";
  EXPECT_EQ(span(load(text, config)), "1704067200000 .. 1704067202000 (1 s)");
  config = {};
  config.drop = {"date"};
  EXPECT_FALSE(load(text, config).time.dated);
}

TEST_F(TableTimes, FurtherTimesAreNoVariables) {
  const Series s =
      load("open_time,y,close_time\n1704067200000,1,1704070799999\n1704070800000,2,1704074399999\n");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("y"));
  EXPECT_THAT(
      s.warnings,
      ElementsAre("columns 'open_time' and 'close_time' both hold times, 'open_time' is the time column: "
                  "data.time = close_time selects the other, data.columns takes it as a variable"));
}

TEST_F(TableTimes, GuessesAreNamed) {
  EXPECT_THAT(
      load(rows({"Jan-05", "Feb-05", "Mar-05"})).warnings,
      ElementsAre("dates such as Jan-05 are read as month and year of two digits; data.time_format decides"));
  EXPECT_THAT(
      load(rows({"2024-07-01 12:00 CST", "2024-07-01 14:00 CDT"})).warnings,
      ElementsAre(
          "the time zone CST has several meanings and is read as UTC-06:00; offsets such as +01:00 are "
          "clear"));
  EXPECT_THAT(load(rows({"2024-07-01 12:00 IST", "2024-07-01 13:00 IST"})).warnings, IsEmpty())
      << "one zone is kept as it is";
}

}  // namespace
}  // namespace modewise::data
