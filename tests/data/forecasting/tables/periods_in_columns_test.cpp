// Tables with a row for each year and a column for each month, or a row for each day and a column for each
// hour.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/data/forecasting/table_test.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

class PeriodsInColumns : public TableTest {
 protected:
  Series load(const std::string& text, ForecastDataConfig config = {},
              const std::string& orient = "periods") {
    config.orient = orient;
    return TableTest::load(text, config);
  }
  std::string refused(const std::string& text, const std::string& orient = "periods") {
    return error_of(ErrorKind::data, [&] { load(text, {}, orient); });
  }
};

/// One cell for each count from 1 on, behind `first`.
std::string row(const std::string& first, int count, int from = 1) {
  std::string text = first;
  for (int i = 0; i < count; ++i) text += fmt::format(",{}", from + i);
  return text + "\n";
}

const std::string kMonthNames = "Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec";

TEST_F(PeriodsInColumns, AYearOfMonthsIsOneSeries) {
  const std::string text = "Year," + kMonthNames + ",Annual\n" + row("2019", 13) + row("2020", 13, 101) +
                           "2021,201,202,,204,***,***,***,***,***,***,***,***,\n";
  ForecastDataConfig config;
  config.missing_texts = {"***"};
  const Series s = load(text, config);
  EXPECT_EQ(s.rows(), 28) << "it ends with the last value";
  EXPECT_EQ(s.time.frequency_text(), "1 month");
  EXPECT_EQ(s.time.text_at(0), "2019-01");
  EXPECT_EQ(s.time.text_at(27), "2021-04");
  EXPECT_EQ(value_at(s, 11), 12);
  EXPECT_EQ(value_at(s, 12), 101);
  EXPECT_FALSE(seen_at(s, 26));
  EXPECT_EQ(value_at(s, 27), 204);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("value"));
  EXPECT_THAT(s.time_columns.names, ElementsAre("Year"));
  EXPECT_THAT(s.notes, IsSupersetOf({"columns 'Jan' to 'Dec' are read as the months of each row, one series",
                                     "column 'Annual' beside them is dropped"}));
  EXPECT_EQ(s.where(13, 0), folder_.path("f.csv") + ":3: column 'value'");
}

TEST_F(PeriodsInColumns, YearsMayDecreaseAndMonthsBeNumbered) {
  const Series s = load("year,1,2,3,4,5,6,7,8,9,10,11,12\n" + row("2021", 12, 101) + row("2020", 12));
  EXPECT_EQ(s.rows(), 24);
  EXPECT_EQ(value_at(s, 0), 1);
  EXPECT_EQ(value_at(s, 23), 112);
  EXPECT_EQ(s.where(0, 0), folder_.path("f.csv") + ":3: column 'value'");
  EXPECT_EQ(
      value_at(
          load("Jahr,Januar,Februar,März,April,Mai,Juni,Juli,August,September,Oktober,November,Dezember\n" +
               row("2020", 12) + row("2021", 12, 13)),
          20),
      21);
}

TEST_F(PeriodsInColumns, NumbersWithoutAHeaderAreMonthsBehindTheYear) {
  ForecastDataConfig config;
  config.time = {"1"};
  std::string text;
  for (int year = 1950; year < 1955; ++year) {
    text += fmt::format("{}", year);
    for (int month = 1; month <= 12; ++month) text += fmt::format(" {}.5", month);
    text += "\n";
  }
  config.delimiter = "space";
  config.header = "no";
  const Series s = load(text, config);
  EXPECT_EQ(s.rows(), 60);
  EXPECT_EQ(s.time.text_at(59), "1954-12");
  EXPECT_EQ(value_at(s, 14), 3.5);
}

TEST_F(PeriodsInColumns, ADayOfHoursIsOneSeries) {
  std::string header = "date", clocks = "date";
  for (int hour = 1; hour <= 24; ++hour) header += fmt::format(",HE{:02}", hour);
  for (int half = 0; half < 48; ++half) clocks += fmt::format(",{:02}:{:02}", half / 2, half % 2 * 30);
  const Series s = load(header + "\n" + row("2020-01-01", 24) + row("2020-01-02", 24, 25));
  EXPECT_EQ(s.rows(), 48);
  EXPECT_EQ(s.time.frequency_text(), "1 h");
  EXPECT_EQ(s.time.text_at(47), "2020-01-02 23:00");
  EXPECT_EQ(value_at(s, 24), 25);
  const Series halves = load(clocks + "\n" + row("01.02.2020", 48) + row("02.02.2020", 48, 49));
  EXPECT_EQ(halves.time.frequency_text(), "30 min");
  EXPECT_EQ(halves.time.text_at(95), "02.02.2020 23:30");
}

TEST_F(PeriodsInColumns, TextsNameTheSeriesOfALongTable) {
  std::string text = "country,Year," + kMonthNames + "\n";
  for (const char* name : {"a", "b"})
    for (const char* year : {"2019", "2020"})
      text += row(std::string(name) + "," + year, 12, name[0] == 'a' ? 1 : 101);
  EXPECT_THAT(refused(text), HasSubstr("data.time names the column of years or days"));
  ForecastDataConfig config;
  config.time = {"Year"};
  const Series s = load(text, config);
  EXPECT_EQ(s.rows(), 24);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("a", "b"));
  EXPECT_EQ(value_at(s, 2 * 13 + 1), 102);
}

TEST_F(PeriodsInColumns, WithoutTheOptionSuchATableIsAnError) {
  const std::string text = "Year," + kMonthNames + "\n" + row("2019", 12) + row("2020", 12);
  EXPECT_THAT(
      refused(text, "auto"),
      HasSubstr("columns 'Jan' to 'Dec' look like the months of each row: data.orient = periods reads one "
                "series, data.orient = columns reads 12 variables"));
  EXPECT_EQ(load(text, {}, "columns").modes[0].labels.size(), 12U);
}

TEST_F(PeriodsInColumns, SaysWhatIsWrong) {
  EXPECT_THAT(refused("date,a\n2020-01-01,1\n2020-01-02,2\n"),
              HasSubstr("data.orient = periods: expected a row for each year with a column for each month"));
  EXPECT_THAT(
      refused("Year," + kMonthNames + "\n2019,1,2,3,x,5,6,7,8,9,10,11,12\n2020,1,2,3,y,5,6,7,8,9,10,11,12\n"),
      HasSubstr("column 'Apr' must hold numbers, it holds text"));
  EXPECT_THAT(refused("Year," + kMonthNames + "\n2019,,,,,,,,,,,,\n2020,,,,,,,,,,,,\n"),
              HasSubstr("columns 'Jan' to 'Dec' have no value"));
  EXPECT_THAT(refused("Year," + kMonthNames + "\n" + row("2019", 12) + row("2020", 12) + row("2019", 12)),
              HasSubstr("2019-01"));
}

}  // namespace
}  // namespace modewise::data
