// Series from CSV files.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/data/forecasting/table_test.h"

namespace modewise::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using CsvSource = TableTest;

TEST_F(CsvSource, DateColumnIsTheTimeAxisAndNumbersAreTheVariablesInFileOrder) {
  const Series s = load("OT,date,b,a\n1,2020-01-01 00:00:00,2,3\n4,2020-01-01 01:00:00,5,6\n");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("OT", "b", "a"));
  EXPECT_EQ(s.modes[0].name, "variable");
  EXPECT_FALSE(s.modes[0].ordered);
  EXPECT_THAT(s.shape(), ElementsAre(3));
  EXPECT_EQ(s.rows(), 2);
  EXPECT_EQ(value_at(s, 4), 5);
  EXPECT_FALSE(s.observed.defined());
  EXPECT_TRUE(s.time.dated);
  EXPECT_EQ(s.time.text_at(2), "2020-01-01 02:00:00");
  EXPECT_THAT(s.notes, IsEmpty());
  EXPECT_EQ(s.source, folder_.path("f.csv"));
}

TEST_F(CsvSource, ASeriesIsFloat32WhereThatRoundsNoNumber) {
  const auto type_of = [&](const std::string& rows, const ForecastDataConfig& config = {}) {
    return load("date,a,b\n" + rows, config).values.scalar_type();
  };
  EXPECT_EQ(type_of("2020-01-01,1,-0.5\n2020-01-02,,16777216\n2020-01-03,3,0\n"), at::kFloat);
  EXPECT_EQ(type_of("2020-01-01,1,-0.5\n2020-01-02,,16777217\n2020-01-03,3,0\n"), at::kDouble);
  EXPECT_EQ(type_of("2020-01-01,1,0.1\n2020-01-02,2,1\n"), at::kDouble);
  ForecastDataConfig means;
  means.resample = "3 day";  // of 1, 1 and 2
  means.dates = "auto";
  EXPECT_EQ(
      type_of("2020-01-01,1,1\n2020-01-02,1,1\n2020-01-03,2,1\n2020-01-04,2,1\n2020-01-05,2,1\n", means),
      at::kDouble);
  const Series s = load("a,b\n1,-0.0\n16777216,0.1\n");
  EXPECT_EQ(value_at(s, 2), 16777216);
  EXPECT_EQ(value_at(s, 3), 0.1);
}

TEST_F(CsvSource, MissingCellsAreMaskedAndHoldZero) {
  const Series s = load("date,a,b\n2020-01-01,1,NA\n2020-01-02,,5\n2020-01-03,7,8\n");
  EXPECT_EQ(s.missing_cells(), 2);
  EXPECT_FALSE(seen_at(s, 1));
  EXPECT_FALSE(seen_at(s, 2));
  EXPECT_EQ(value_at(s, 1), 0);
  EXPECT_EQ(value_at(s, 2), 0);
  EXPECT_TRUE(seen_at(s, 3));
}

TEST_F(CsvSource, NumbersAndTextsMayStandForMissing) {
  ForecastDataConfig config;
  config.missing_values = {-9999};
  config.missing_texts = {"broken"};
  const Series s = load("a,b\n1,-9999\nbroken,2\n3,4\n", config);
  EXPECT_EQ(s.missing_cells(), 2);
  EXPECT_THAT(s.notes, ElementsAre("1 cell of -9999 treated as missing"));
}

TEST_F(CsvSource, OptionsSetTheMarksOfNumbersAndLeaveLinesOut) {
  const std::string open = "a;b\n2,900;1\n2,905;2\n";
  const auto first = [&](const char* decimal, const char* thousands, const std::string& text) {
    ForecastDataConfig config;
    config.marks = {decimal, thousands};
    return value_at(load(text, config), 0);
  };
  EXPECT_EQ(first("auto", ",", open), 2900);
  EXPECT_EQ(first(",", "auto", open), 2.9);
  EXPECT_EQ(first("auto", "none", open), 2.9);
  EXPECT_EQ(first("auto", "space", "a;b\n2 900,5;1\n1;2\n"), 2900.5);
  ForecastDataConfig units;
  units.skip_lines = {"2", "4-5"};
  const Series s = load("date,a\nUTC,K\n2020-01-01,1\nx\ny\n2020-01-02,2\n", units);
  EXPECT_EQ(s.rows(), 2);
  EXPECT_EQ(value_at(s, 1), 2);
  EXPECT_EQ(s.where(1, 0), folder_.path("f.csv") + ":6: column 'a'");
  for (const char* lines : {"0", "3-2", "x", "2-", "1 2", ""}) {
    units.skip_lines = {lines};
    EXPECT_THAT(load_error(ErrorKind::config, "a\n1\n2\n", units),
                HasSubstr("data.skip_lines: expected line numbers"))
        << lines;
  }
  ForecastDataConfig same;
  same.marks = {",", ","};
  EXPECT_THAT(load_error(ErrorKind::config, "a\n1\n2\n", same),
              HasSubstr("data.thousands and data.decimal are both ','"));
}

TEST_F(CsvSource, JoinsTheRowsOfAHeader) {
  ForecastDataConfig config;
  config.header_rows = 2;
  const Series s = load("date,a,a\n,x,y\n2020-01-01,1,2\n2020-01-02,3,4\n", config);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("a x", "a y"));
  EXPECT_EQ(s.rows(), 2);
  EXPECT_EQ(value_at(s, 2), 3);
  EXPECT_EQ(s.where(1, 0), folder_.path("f.csv") + ":4: column 'a x'");
  config.header = "no";
  EXPECT_EQ(load_error(ErrorKind::config, "a\n1\n2\n", config),
            "data.header_rows = 2 and data.header = no contradict each other");
  config.header = "auto";
  config.orient = "rows";
  EXPECT_EQ(load_error(ErrorKind::config, "a\n1\n2\n", config),
            "data.header_rows = 2 joins the names of columns, but data.orient = rows");
}

TEST_F(CsvSource, SaysHowNumbersAreRead) {
  const Series s = load("date,a,b\n2020-01-01,\"1,234.5\",?\n2020-01-02,\"2,000.5\",3\n,,\n");
  EXPECT_EQ(value_at(s, 0), 1234.5);
  EXPECT_THAT(s.notes, ElementsAre("1 row of delimiters alone at the end left out",
                                   "column 'a': the comma groups thousands",
                                   "column 'b': 1 cell of '?' read as missing"));
  EXPECT_EQ(s.decimal, ".");
  ForecastDataConfig later;
  later.usual_decimal = ",";
  EXPECT_EQ(value_at(load("a;b\n2,900;1\n2,905;2\n", later), 0), 2.9);
}

TEST_F(CsvSource, GapsInDatesAreMissingRows) {
  const Series s = load("date,a\n2020-01-01,1\n2020-01-02,2\n2020-01-04,4\n");
  EXPECT_EQ(s.rows(), 4);
  EXPECT_FALSE(seen_at(s, 2));
  EXPECT_EQ(value_at(s, 3), 4);
  EXPECT_THAT(s.notes, ElementsAre("a gap of 1 row after 2020-01-02 is filled as missing"));
}

TEST_F(CsvSource, TextDatesAndRowNumbersAreLeftOutWithNotes) {
  const Series s = load(
      "No,when,wd,a,checked\n1,2020-01-01,NW,5,2021-01-01\n2,2020-01-02,N,6,2021-01-02\n3,2020-01-03,E,7,\n");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("a"));
  EXPECT_THAT(s.notes,
              ElementsAre("column 'No' is a row index and is dropped",
                          "column 'wd' holds text and is dropped; data.categories = wd one-hot encodes "
                          "it"));
  EXPECT_THAT(s.warnings, ElementsAre("columns 'when' and 'checked' both hold dates, the first is "
                                      "the time column: data.time = checked selects the other"));
}

TEST_F(CsvSource, ARowIndexOutOfOrderIsSaidWhereThereAreNoDates) {
  const std::string warning =
      "the row index 'column 1' does not rise, and there are no dates: the rows follow each other in time as "
      "in the "
      "file; sort them before if that is not their order";
  for (const char* index : {"0123", "0246", "3210", "2031"}) {
    std::string text = ",a\n", dated = ",date,a\n";
    for (int row = 0; row < 4; ++row) {
      text += fmt::format("{},{}\n", index[row], row);
      dated += fmt::format("{},2020-01-0{},{}\n", index[row], row + 1, row);
    }
    const Series s = load(text);
    EXPECT_THAT(s.modes[0].labels, ElementsAre("a")) << index;
    EXPECT_EQ(value_at(s, 3), 3);
    EXPECT_THAT(s.notes, ElementsAre("column 'column 1' is a row index and is dropped"));
    if (index[0] == '0')
      EXPECT_THAT(s.warnings, IsEmpty()) << index;
    else
      EXPECT_THAT(s.warnings, ElementsAre(warning)) << index;
    EXPECT_THAT(load(dated).warnings, IsEmpty()) << index;
  }
  // A number twice: a variable.
  EXPECT_THAT(load(",a\n3,1\n0,2\n0,3\n7,4\n").modes[0].labels, ElementsAre("column 1", "a"));
}

TEST_F(CsvSource, RowNumbersCountFromZeroOrOneByOne) {
  const auto labels = [&](const char* cells) {
    return load(std::string("date,id,a\n") + cells).modes[0].labels;
  };
  EXPECT_THAT(labels("2020-01-01,0,5\n2020-01-02,1,6\n"), ElementsAre("a"));
  EXPECT_THAT(labels("2020-01-01,1,5\n2020-01-02,2,6\n"), ElementsAre("a"));
  EXPECT_THAT(labels("2020-01-01,5,5\n2020-01-02,6,6\n"), ElementsAre("id", "a"));
  EXPECT_THAT(labels("2020-01-01,1,5\n2020-01-02,3,6\n"), ElementsAre("id", "a"));
}

TEST_F(CsvSource, AnEmptyColumnIsAVariableOnlyIfItIsNamed) {
  const std::string text = "date,a,b\n2020-01-01,1,\n2020-01-02,2,\n";
  const Series left = load(text);
  EXPECT_THAT(left.modes[0].labels, ElementsAre("a"));
  EXPECT_THAT(left.notes, ElementsAre("column 'b' has no value in any row and is dropped"));
  ForecastDataConfig named, of_run;
  named.columns = {"a", "b"};
  of_run.variables = {"a", "b"};
  for (const ForecastDataConfig& config : {named, of_run}) {
    const Series s = load(text, config);
    EXPECT_THAT(s.modes[0].labels, ElementsAre("a", "b"));
    EXPECT_EQ(s.missing_cells(), 2);
    EXPECT_THAT(s.notes, ElementsAre("column 'b' has no value in any row"));
  }
}

TEST_F(CsvSource, RowsAreSortedByDate) {
  const Series descending = load("date,a\n2020-01-03,3\n2020-01-02,2\n2020-01-01,1\n");
  EXPECT_EQ(value_at(descending, 0), 1);
  EXPECT_EQ(descending.time.text_at(0), "2020-01-01");
  EXPECT_THAT(descending.notes, ElementsAre("the rows are in descending order of dates and are read from the "
                                            "last to the first"));
  EXPECT_EQ(descending.where(0, 0), folder_.path("f.csv") + ":4: column 'a'");
  const Series mixed = load("date,a\n2020-01-02,2\n2020-01-04,4\n2020-01-01,1\n");
  EXPECT_EQ(value_at(mixed, 3), 4);
  EXPECT_EQ(mixed.where(3, 0), folder_.path("f.csv") + ":3: column 'a'");
  EXPECT_THAT(
      mixed.notes,
      ElementsAre("the rows are sorted by date; 2020-01-01 in line 4 comes before the date of the line "
                  "above",
                  "a gap of 1 row after 2020-01-02 is filled as missing"));
  EXPECT_THAT(load_error(ErrorKind::data, "date,a\n2020-01-03,3\n2020-01-02,2\n2020-01-02,1\n"),
              HasSubstr("f.csv:3: dates must increase, but 2020-01-02 equals the date of line 4, 2020-01-02; "
                        "data.id"));
}

TEST_F(CsvSource, ColumnsSelectAndOrder) {
  ForecastDataConfig config;
  config.columns = {"c", "a"};
  const Series s = load("date,a,b,c\n2020-01-01,1,2,3\n2020-01-02,4,5,6\n", config);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("c", "a"));
  EXPECT_EQ(value_at(s, 0), 3);
  EXPECT_EQ(value_at(s, 1), 1);
  ForecastDataConfig without;
  without.drop = {"b"};
  EXPECT_THAT(load("date,a,b,c\n2020-01-01,1,2,3\n2020-01-02,4,5,6\n", without).modes[0].labels,
              ElementsAre("a", "c"));
}

TEST_F(CsvSource, UnknownColumnsAreConfigErrorsWithTheNearestName) {
  ForecastDataConfig config;
  config.columns = {"presure"};
  EXPECT_EQ(load_error(ErrorKind::config, "date,pressure\n2020-01-01,1\n2020-01-02,2\n", config),
            "data.columns: f.csv has no column 'presure' (did you mean 'pressure'?)");
  config = {};
  config.drop = {"x"};
  EXPECT_THAT(load_error(ErrorKind::config, "date,a\n2020-01-01,1\n2020-01-02,2\n", config),
              HasSubstr("data.drop: f.csv has no column 'x'"));
  config = {};
  config.time_column = "dat";
  EXPECT_THAT(load_error(ErrorKind::config, "date,a\n2020-01-01,1\n2020-01-02,2\n", config),
              HasSubstr("data.time_column: f.csv has no column 'dat' (did you mean 'date'?)"));
}

TEST_F(CsvSource, ColumnsAskedForMustBeNumbers) {
  ForecastDataConfig config;
  config.columns = {"wd"};
  EXPECT_EQ(load_error(ErrorKind::data, "date,wd\n2020-01-01,\n2020-01-02,NW\n2020-01-03,N\n", config),
            "f.csv: column 'wd' must hold numbers, it holds text ('NW' in line 3)");
  EXPECT_EQ(load_error(ErrorKind::data, "date,wd\n2020-01-01,2019-05-05\n2020-01-02,2019-05-06\n", config),
            "f.csv: column 'wd' must hold numbers, it holds dates");
  config = {};
  config.time_column = "a";
  EXPECT_EQ(load_error(ErrorKind::data, "date,a\n2020-01-01,1\n2020-01-02,2\n", config),
            "f.csv: the time column 'a' must hold dates, it holds numbers, such as '1' in line 2; "
            "data.time_format describes their form");
}

TEST_F(CsvSource, NoNumbersIsAnError) {
  EXPECT_EQ(load_error(ErrorKind::data, "date,wd\n2020-01-01,N\n2020-01-02,NW\n"),
            "f.csv: expected at least one column of numbers, got date, wd");
  EXPECT_EQ(load_error(ErrorKind::data, "a,b\n,\nNA,NA\n,NA\n"), "f.csv: every cell is missing");
}

TEST_F(CsvSource, TheTimeColumnMayBeNamed) {
  ForecastDataConfig config;
  config.time_column = "measured";
  const Series s =
      load("sent,measured,a\n2020-02-01,2020-01-01 00:00,1\n2020-02-01,2020-01-01 01:00,2\n", config);
  EXPECT_EQ(s.time.frequency_text(), "1 h");
  EXPECT_THAT(s.notes, Contains("column 'sent' holds dates besides the time column and is dropped"));
  EXPECT_THAT(s.warnings, IsEmpty());
}

TEST_F(CsvSource, UnevenRowsArePooledToSteps) {
  ForecastDataConfig config;
  config.resample = "1h";
  const std::string text =
      "date,a,b\n2020-01-01 09:59:59,1,5\n2020-01-01 10:00:00,2,\n2020-01-01 10:00:00,4,\n"
      "2020-01-01 10:59:59,9,7\n2020-01-01 12:30:00,8,9\n";
  Series s = load(text, config);
  EXPECT_EQ(s.time.frequency_text(), "1 h");
  EXPECT_EQ(s.time.text_at(0), "2020-01-01 09:00:00");
  EXPECT_EQ(s.time.text_at(4), "2020-01-01 13:00:00");
  EXPECT_EQ(s.rows(), 4);
  EXPECT_EQ(value_at(s, 2), 5);  // (2 + 4 + 9) / 3
  EXPECT_EQ(value_at(s, 3), 7);
  EXPECT_FALSE(seen_at(s, 4));
  EXPECT_EQ(value_at(s, 6), 8);
  EXPECT_THAT(s.notes, ElementsAre("5 dates are resampled to 4 steps of 1 h, 1 of them missing"));
  EXPECT_EQ(s.where(1, 1), folder_.path("f.csv") + ":3: column 'b'");
  config.resample_by = "sum";
  s = load(text, config);
  EXPECT_EQ(value_at(s, 2), 15);
  EXPECT_EQ(value_at(s, 3), 7);
  config.resample_by = "last";
  EXPECT_EQ(value_at(load(text, config), 2), 9);
}

TEST_F(CsvSource, PoolingThatCannotBeIsRefused) {
  ForecastDataConfig config;
  const std::string text = "date,a\n2020-01-01 00:00,1\n2020-01-01 01:00,2\n2020-01-01 02:00,3\n";
  config.resample = "10 min";
  EXPECT_EQ(
      load_error(ErrorKind::data, text, config),
      "f.csv: data.resample = 10 min is shorter than the step of the rows: half of them or more are 1 h "
      "apart or farther");
  config.resample = "often";
  EXPECT_EQ(load_error(ErrorKind::config, text, config),
            "data.resample: expected a number and a unit (s, min, h, day, week, month, year), got 'often'");
  config.resample = "1 day";
  EXPECT_EQ(load_error(ErrorKind::data, "a\n1\n2\n", config),
            "f.csv: data.resample needs dates, but no column holds dates");
  EXPECT_EQ(error_of(ErrorKind::config,
                     [&] {
                       ForecastDataConfig simulated = config;
                       simulated.simulate = "seasonal";
                       load_series(simulated);
                     }),
            "data.resample is for CSV files with dates, seasonal (simulated) is not one");
  EXPECT_EQ(load("date,a\n2020-01-02,1\n2020-01-01,2\n", config).rows(), 2) << "in any order";
  EXPECT_EQ(
      load_error(ErrorKind::data,
                 "date,a\n2020-01-01 00:00,1\n2020-01-01 01:00,2\n2020-01-01 02:00,3\n2021-01-01 00:00,4\n",
                 config),
      "f.csv: the dates from 2020-01-01 00:00 to 2021-01-01 00:00 make 367 steps of data.resample = 1 d, but "
      "no row falls in 365 of them: a longer step has fewer empty ones");
  config.dates = "rows";
  EXPECT_EQ(load_error(ErrorKind::config, text, config),
            "data.resample needs dates, which data.dates = rows ignores: set only one of them");
}

TEST_F(CsvSource, WordsMayBeVariables) {
  ForecastDataConfig config;
  config.categories = {"open", "wind"};
  const std::string text =
      "date,open,a,wind\n2020-01-01,yes,1,N\n2020-01-02,no,2,SW\n2020-01-03,,3,E\n2020-01-04,no,4,N\n";
  const Series s = load(text, config);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("open", "a", "wind=E", "wind=N", "wind=SW"));
  const auto row = [&](int64_t at) {
    std::vector<double> cells;
    for (int64_t i = 0; i < 5; ++i) cells.push_back(seen_at(s, at * 5 + i) ? value_at(s, at * 5 + i) : -1);
    return cells;
  };
  EXPECT_THAT(row(0), ElementsAre(1, 1, 0, 1, 0));
  EXPECT_THAT(row(1), ElementsAre(0, 2, 0, 0, 1));
  EXPECT_THAT(row(2), ElementsAre(-1, 3, 1, 0, 0));
  EXPECT_EQ(s.categories, (Categories{{"open", {"no", "yes"}}, {"wind", {"E", "N", "SW"}}}));
  config.columns = {"wind", "a"};
  EXPECT_THAT(load(text, config).modes[0].labels, ElementsAre("wind=E", "wind=N", "wind=SW", "a"));
  config.columns = {};
  config.drop = {"wind"};
  EXPECT_THAT(load(text, config).modes[0].labels, ElementsAre("open", "a"));
  // A run keeps the categories of its training data: a later file may have fewer, but no new ones.
  config = {};
  config.categories = {"open"};
  config.words = s.categories;
  config.words.erase("wind");
  EXPECT_EQ(value_at(load("date,open,a\n2020-01-01,yes,1\n2020-01-02,yes,1\n", config), 0), 1);
  EXPECT_EQ(load_error(ErrorKind::data, "date,open,a\n2020-01-01,yes,1\n2020-01-02,maybe,1\n", config),
            "f.csv:3: column 'open' holds 'maybe', but its categories are no, yes");
}

TEST_F(CsvSource, WhatIsNoCategoryIsRefused) {
  ForecastDataConfig config;
  config.categories = {"w"};
  EXPECT_EQ(load_error(ErrorKind::data, "date,w,a\n2020-01-01,x,1\n2020-01-02,x,2\n", config),
            "f.csv: column 'w' needs at least two categories, it holds 'x' alone");
  EXPECT_EQ(load_error(ErrorKind::data, "date,w,a\n2020-01-01,1,1\n2020-01-02,2,2\n", config),
            "f.csv: data.categories expects columns of words, but column 'w' holds numbers");
  EXPECT_EQ(load_error(ErrorKind::data,
                       "date,w,w=y,a\n2020-01-01,x,1,1\n2020-01-02,y,2,2\n2020-01-03,z,2,2\n", config),
            "f.csv: a category of column 'w' would be named 'w=y', like another column");
  EXPECT_EQ(load_error(ErrorKind::config, "date,wd,a\n2020-01-01,x,1\n2020-01-02,y,2\n", config),
            "data.categories: f.csv has no column 'w' (did you mean 'wd'?)");
  std::string many = "date,w,a\n";
  for (int day = 0; day < 65; ++day)
    many += io::format_date_time(86400 * day) + ",w" + std::to_string(day) + ",1\n";
  EXPECT_EQ(load_error(ErrorKind::data, many, config),
            "f.csv: column 'w' holds more than 64 different words, too many for categories");
}

TEST_F(CsvSource, YearMonthDayHourColumnsAreTheTimeAxis) {
  const Series s = load("No,year,month,day,hour,a\n1,2013,2,28,23,5\n2,2013,3,1,0,6\n3,2013,3,1,1,7\n");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("a"));
  EXPECT_EQ(s.time.frequency_text(), "1 h");
  EXPECT_EQ(s.time.text_at(3), "2013-03-01 02:00");
  EXPECT_TRUE(s.time_columns.parts);
  EXPECT_THAT(s.time_columns.names, ElementsAre("year", "month", "day", "hour"));
  const Series months = load("Year,Month,a\n2019,12,5\n2020,1,6\n2020,2,7\n");
  EXPECT_EQ(months.time.frequency_text(), "1 month");
  EXPECT_EQ(months.time.text_at(3), "2020-03");
  const Series years = load("year,a\n2018,5\n2019,6\n2020,7\n");
  EXPECT_EQ(years.time.frequency_text(), "1 year");
  EXPECT_EQ(load("a,year\n2,1990\n3,1890\n").modes[0].labels.size(), 2u)
      << "a year that is not first is a variable";
}

TEST_F(CsvSource, DatePartsAreNamedByTheirLetters) {
  const Series s = load("YY,MM,DD,hh,mm,a\n2020,1,31,23,30,1\n2020,2,1,0,0,2\n2020,2,1,0,30,3\n");
  EXPECT_EQ(s.time.text_at(1), "2020-02-01 00:00");
  EXPECT_EQ(s.time.frequency_text(), "30 min");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("a"));
  EXPECT_THAT(s.time_columns.names, ElementsAre("YY", "MM", "DD", "hh", "mm"));
  EXPECT_EQ(load("yyyy,mm,tmax\n2019,12,5\n2020,1,6\n2020,2,7\n").time.text_at(3), "2020-03");
  // Millimetres, and years of two digits.
  EXPECT_THAT(load("year,month,day,hour,mm\n2020,1,1,0,3\n2020,1,1,1,4\n2020,1,1,2,5\n").modes[0].labels,
              ElementsAre("mm"));
  EXPECT_THAT(load("year,mm\n2018,650\n2019,700\n2020,12\n").modes[0].labels, ElementsAre("mm"));
  EXPECT_THAT(load("YY,MM,a\n98,1,5\n98,2,6\n98,3,7\n").modes[0].labels, ElementsAre("YY", "MM", "a"));
}

TEST_F(CsvSource, ImpossibleDatePartsAreAnError) {
  EXPECT_EQ(load_error(ErrorKind::data, "year,month,day,a\n2013,2,28,1\n\n2013,2,30,2\n"),
            "f.csv:4: the columns year, month, day must give a date, got 2013, 2, 30");
  EXPECT_EQ(load_error(ErrorKind::data, "year,month,day,a\n2013,2,28,1\n2013,,1,2\n"),
            "f.csv:3: the columns year, month, day must give a date, got 2013, empty, 1");
}

TEST_F(CsvSource, ErrorsNameTheLineEvenAfterEmptyLinesAndQuotedLineEnds) {
  EXPECT_THAT(
      load_error(ErrorKind::data,
                 "date,note,a\n2020-01-01,\"two\nlines\",1\n\n2020-01-02,x,2\n2020-01-02,x,3\n"),
      HasSubstr("f.csv:6: dates must increase, but 2020-01-02 equals the date of line 5, 2020-01-02"));
}

TEST_F(CsvSource, WithoutHeaderAndDates) {
  const Series s = load("1,2.5\n3,4\n5,6\n");
  EXPECT_EQ(s.rows(), 3);
  EXPECT_FALSE(s.time.dated);
  EXPECT_EQ(s.time.length, 3);
  EXPECT_EQ(value_at(s, 1), 2.5);
}

TEST_F(CsvSource, TheHeaderMayBeSetAndADecisionIsAWarning) {
  const std::string text = "773869,767541\n64.375,67.625\n62.5,68.5\n64.5,63.75\n";
  const Series names = load(text);
  EXPECT_THAT(names.modes[0].labels, ElementsAre("773869", "767541"));
  EXPECT_EQ(names.header, true);
  EXPECT_THAT(
      names.warnings,
      ElementsAre(
          "the first row (773869, 767541) is read as column names, since its whole numbers are unlike "
          "the values below: data.header=no reads it as values"));
  ForecastDataConfig config;
  config.header = "no";
  const Series values = load(text, config);
  EXPECT_THAT(values.modes[0].labels, ElementsAre("1", "2"));
  EXPECT_EQ(values.rows(), 4);
  EXPECT_THAT(values.warnings, IsEmpty());
  config.header = "yes";
  const Series counts = load("60,62\n61,63\n59,62\n60,61\n", config);
  EXPECT_THAT(counts.modes[0].labels, ElementsAre("60", "62"));
  EXPECT_THAT(
      load("60,62\n61,63\n59,62\n60,61\n").warnings,
      ElementsAre("the first row (60, 62) is read as values: data.header=yes reads it as column names"));
}

TEST_F(CsvSource, AmbiguousDatesAreAWarning) {
  EXPECT_THAT(load("d,a\n01.01.2020,1\n02.01.2020,2\n").warnings,
              ElementsAre("dates are read as day.month.year; day and month are ambiguous in every row"));
  EXPECT_THAT(load("d,a\n12.01.2020,1\n13.01.2020,2\n").warnings, IsEmpty());
}

TEST_F(CsvSource, TextUnderANameThatSaysNothingMayBeginWithNames) {
  const std::string values = "64.375,67.625\n62.5,68.5\n64.5,63.75\n";
  EXPECT_THAT(load("773869,767541\n" + values, {}, "speeds.txt").modes[0].labels,
              ElementsAre("773869", "767541"));
  ForecastDataConfig config;
  config.header = "no";
  EXPECT_THAT(load("773869,767541\n" + values, config, "speeds.txt").modes[0].labels, ElementsAre("1", "2"));
  const Series counts = load("60,62\n61,63\n59,62\n", {}, "counts.txt");
  EXPECT_THAT(counts.modes[0].labels, ElementsAre("1", "2"));
  EXPECT_THAT(
      counts.warnings,
      ElementsAre("the first row (60, 62) is read as values: data.header=yes reads it as column names"));
  config.header = "yes";
  config.format = "text";
  config.path = folder_.path("counts.txt");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load_series(config); }),
              HasSubstr("data.format = text reads plain numbers without a header"));
}

TEST_F(CsvSource, OptionsOfTablesMakeNumbersATable) {
  const std::string text = "1950 2021\n1950 1 2.5\n1950 2 3.5\n1950 3 4.5\n";
  ForecastDataConfig config;
  EXPECT_THAT(error_of(ErrorKind::data, [&] { load(text, config, "n.txt"); }),
              HasSubstr("expected 2 numbers as in the first row"));
  config.skip_lines = {"1"};
  const Series skipped = load(text, config, "n.txt");
  EXPECT_EQ(skipped.rows(), 3);
  EXPECT_EQ(value_at(skipped, 2), 2.5);
  config.missing_texts = {"3.5"};
  EXPECT_FALSE(seen_at(load(text, config, "n.txt"), 5));
  config = {};
  config.marks.decimal = ",";
  EXPECT_EQ(value_at(load("1,5 2,5\n3,5 4,5\n5,5 6,5\n", config, "d.txt"), 3), 4.5);
  config.format = "text";
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load(text, config, "n.txt"); }),
              HasSubstr("data.decimal is for CSV, but data.format = text reads plain numbers; data.format = "
                        "csv reads a table"));
}

TEST_F(CsvSource, UsualFillValuesAreAWarningUntilTheyAreNamed) {
  const std::string text =
      "date,a,b\n2020-01-01,1,2\n2020-01-02,1e20,4\n2020-01-04,5,-1e20\n2020-01-05,1e20,9.96921e36\n"
      "2020-01-06,7,8\n";
  const std::string end = " treats them as missing",
                    why = ", which usually stands for a missing value, the first at ";
  EXPECT_THAT(load(text).warnings, ElementsAre("2 cells hold 1e+20" + why + folder_.path("f.csv") +
                                                   ":3: column 'a': data.missing_values=1e+20" + end,
                                               "1 cell holds -1e+20" + why + folder_.path("f.csv") +
                                                   ":4: column 'b': data.missing_values=-1e+20" + end,
                                               "1 cell holds 9.96921e+36" + why + folder_.path("f.csv") +
                                                   ":5: column 'b': data.missing_values=9.96921e+36" + end));
  ForecastDataConfig config;
  config.missing_values = {1e20, -1e20, 9.96921e36};
  const Series named = load(text, config);
  EXPECT_THAT(named.warnings, IsEmpty());
  EXPECT_EQ(named.missing_cells(), 4 + 2);  // and the two of the missing day
}

TEST_F(CsvSource, StartAndStepDateTheRowsOfSourcesWithoutDates) {
  ForecastDataConfig config;
  config.start = "2019-03-01";
  config.step = "1 h";
  EXPECT_EQ(load("a\n1\n2\n3\n", config).time.text_at(3), "2019-03-01 03:00");
  config.start = "2019-01-31";
  config.step = "1 month";
  EXPECT_EQ(load("a\n1\n2\n3\n", config).time.text_at(1), "2019-02-28");
  config.step = "90 s";
  EXPECT_EQ(load("a\n1\n2\n3\n", config).time.text_at(2), "2019-01-31 00:03:00");
  config.step = "";
  EXPECT_THAT(load_error(ErrorKind::config, "a\n1\n2\n", config),
              HasSubstr("must both be set, only data.start"));
  config.start = "soon";
  config.step = "1 h";
  EXPECT_THAT(load_error(ErrorKind::config, "a\n1\n2\n", config), HasSubstr("data.start: expected a date"));
  config.start = "2019-01-31";
  EXPECT_THAT(load_error(ErrorKind::config, "date,a\n2020-01-01,1\n2020-01-02,2\n", config),
              HasSubstr("are for sources without dates, f.csv has dates"));
}

TEST_F(CsvSource, DelimiterMustBeOneCharacter) {
  ForecastDataConfig config;
  config.delimiter = ";;";
  EXPECT_EQ(load_error(ErrorKind::config, "a;b\n1;2\n", config),
            "data.delimiter: expected one character, tab or space, got ';;'");
  config.delimiter = "tab";
  EXPECT_THAT(load("a\tb\n1\t2\n3\t4\n", config).modes[0].labels, ElementsAre("a", "b"));
}

TEST_F(CsvSource, AFileThatIsNotThereAndNoFileAtAll) {
  ForecastDataConfig config;
  config.path = folder_.path("absent.csv");
  EXPECT_THAT(error_of(ErrorKind::no_input, [&] { load_series(config); }), HasSubstr("absent.csv"));
  EXPECT_THAT(error_of(ErrorKind::config, [] { load_series({}); }), HasSubstr("got neither"));
  config.simulate = "lorenz96";
  EXPECT_EQ(error_of(ErrorKind::config, [&] { load_series(config); }),
            "data: expected data.path or data.simulate, got both (" + config.path + " and lorenz96)");
}

TEST_F(CsvSource, FormatFollowsTheNameOrTheFirstLine) {
  EXPECT_THAT(load("1.5,2\n3,4\n", {}, "numbers.txt").modes[0].labels, ElementsAre("1", "2"));
  EXPECT_THAT(load("date,a\n2020-01-01,1\n2020-01-02,3\n", {}, "table.txt").modes[0].labels,
              ElementsAre("a"));
}

}  // namespace
}  // namespace modewise::data
