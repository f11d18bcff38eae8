// Long tables: one row per series and date, pivoted to one time axis.

#include <gmock/gmock.h>

#include <cmath>

#include "tests/data/forecasting/table_test.h"

namespace modewise::data {
namespace {

using testing::Contains;
using testing::ElementsAre;

class LongTable : public TableTest {
 protected:
  /// Cells of [T, series …] in order, −1: missing.
  static std::vector<double> cells(const Series& s) {
    std::vector<double> out;
    for (int64_t i = 0; i < s.values.numel(); ++i)
      out.push_back(s.observed.defined() && !seen_at(s, i) ? -1 : value_at(s, i));
    return out;
  }
};

const std::string kHead = "unique_id,ds,y\n";

TEST_F(LongTable, SeriesStandSideBySideOnOneClock) {
  const Series s = load(kHead + "B,2020-01-01,1\nB,2020-01-02,2\nA,2020-01-01,3\nA,2020-01-02,4\n");
  EXPECT_EQ(s.modes[0].name, "unique_id");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("B", "A"));
  EXPECT_THAT(s.shape(), ElementsAre(2));
  EXPECT_THAT(cells(s), ElementsAre(1, 3, 2, 4));
  EXPECT_FALSE(s.observed.defined());
  EXPECT_EQ(s.time.text_at(2), "2020-01-03");
  EXPECT_THAT(s.notes, ElementsAre("a long table of 2 series with the id 'unique_id'"));
  ASSERT_TRUE(s.long_layout.has_value());
  EXPECT_THAT(s.long_layout->id, ElementsAre("unique_id"));
  EXPECT_THAT(s.time_columns.names, ElementsAre("ds"));
  EXPECT_THAT(s.long_layout->values, ElementsAre("y"));
}

TEST_F(LongTable, SeriesOfUnequalLengthAndGapsAreMasked) {
  const Series s =
      load(kHead + "A,2020-01-03,1\nA,2020-01-01,2\nB,2020-01-05,3\nB,2020-01-02,4\nB,2020-01-03,5\n");
  EXPECT_THAT(cells(s), ElementsAre(2, -1, -1, 4, 1, 5, -1, -1, -1, 3));
  EXPECT_THAT(s.notes, Contains("a gap of 1 row after 2020-01-03 is filled as missing"));
  EXPECT_EQ(s.where(4, 1), folder_.path("f.csv") + ":4: column 'y'");
}

TEST_F(LongTable, SeveralColumnsAreASecondMode) {
  const Series s = load(
      "date,station,temp,wind,kind\n2020-01,p,1,2,x\n2020-01,q,3,4,x\n2020-02,p,5,6,x\n2020-02,q,7,8,x\n");
  EXPECT_THAT(s.shape(), ElementsAre(2, 2));
  EXPECT_EQ(s.modes[0].name, "station");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("p", "q"));
  EXPECT_EQ(s.modes[1].name, "variable");
  EXPECT_THAT(s.modes[1].labels, ElementsAre("temp", "wind"));
  EXPECT_THAT(cells(s), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(s.time.frequency_text(), "1 month");
  EXPECT_THAT(s.notes, Contains("column 'kind' holds text and is dropped"));
  EXPECT_EQ(s.where(1, 2), folder_.path("f.csv") + ":5: column 'temp'");
}

TEST_F(LongTable, IdsMayBeNumbersUnderTheirName) {
  const std::string rows = "7,2020-01-01,1\n8,2020-01-01,2\n7,2020-01-02,3\n8,2020-01-02,4\n";
  EXPECT_THAT(load("Sensor_ID,date,y\n" + rows).modes[0].labels, ElementsAre("7", "8"));
  EXPECT_THAT(load_error(ErrorKind::data, "depth,date,y\n" + rows),
              testing::HasSubstr("data.id names the columns of the series ids of a long table"));
  ForecastDataConfig config;
  config.id = {"depth"};
  EXPECT_THAT(load("depth,date,y\n" + rows, config).modes[0].labels, ElementsAre("7", "8"));
}

TEST_F(LongTable, IdsStayAsTheyAreWritten) {
  for (const char* name : {"unique_id", "Symbol"}) {
    const std::string head = std::string(name) + ",date,y\n";
    EXPECT_THAT(
        load(head + "007,2020-01-01,1\n7,2020-01-01,2\n007,2020-01-02,3\n7,2020-01-02,4\n").modes[0].labels,
        ElementsAre("007", "7"));
    EXPECT_THAT(load(head + "1234567890123456789,2020-01-01,1\n1234567890123456788,2020-01-01,2\n"
                            "1234567890123456789,2020-01-02,3\n")
                    .modes[0]
                    .labels,
                ElementsAre("1234567890123456789", "1234567890123456788"));
  }
  const Series s =
      load("store,item,date,y\n01,1,2020-01-01,1\n1,1,2020-01-01,2\n01,1,2020-01-02,3\n1,1,2020-01-02,4\n");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("01", "1"));
  EXPECT_THAT(cells(s), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(s.notes, Contains(testing::HasSubstr("column 'item' holds text and is dropped")));
}

TEST_F(LongTable, SeriesMayFollowEachOther) {
  const std::string rows = ",2020-01-01,1\nA,2020-01-02,2\nB,2020-01-03,3\nB,2020-01-04,4\n";
  for (const char* name : {"unique_id", "store"})
    EXPECT_THAT(cells(load(std::string(name) + ",ds,y\nA" + rows)), ElementsAre(1, -1, 2, -1, -1, 3, -1, 4));
  EXPECT_THAT(load("word,ds,y\nA" + rows).modes[0].labels, ElementsAre("y"));
}

TEST_F(LongTable, FlagsAndValuesAreNotIds) {
  for (const auto& [a, b] :
       {std::pair("Y", "N"), std::pair("CET", "CEST"), std::pair("-0.7%", "0.9%"), std::pair("Mon", "Tue")})
    EXPECT_THAT(load_error(ErrorKind::data,
                           fmt::format("date,word,y\n2020-01-01,{0},1\n2020-01-01,{1},2\n2020-01-02,{0},3\n"
                                       "2020-01-02,{1},4\n",
                                       a, b)),
                testing::HasSubstr("equals the date of line"))
        << a;
}

TEST_F(LongTable, SeveralColumnsMayTellSeriesApart) {
  const std::string text =
      "store,item,date,y\na,m,2020-01-01,1\na,n,2020-01-01,2\nb,m,2020-01-01,3\na,m,2020-01-02,4\na,n,2020-"
      "01-02,5\n";
  ForecastDataConfig config;
  for (const std::vector<std::string>& id : {std::vector<std::string>{}, {"store", "item"}}) {
    config.id = id;
    const Series s = load(text, config);
    EXPECT_EQ(s.modes[0].name, "store/item");
    EXPECT_THAT(s.modes[0].labels, ElementsAre("a/m", "a/n", "b/m"));
    EXPECT_THAT(s.long_layout->id, ElementsAre("store", "item"));
    EXPECT_THAT(s.long_layout->series[1], ElementsAre("a", "n"));
    EXPECT_THAT(cells(s), ElementsAre(1, 2, 3, 4, 5, -1));
  }
  config.id = {"store"};
  const std::string twice = "f.csv:3: series 'a' has a second row for 2020-01-01, the first is in line 2: ";
  EXPECT_EQ(load_error(ErrorKind::data, text, config), twice + "set data.id to all series id columns");
  EXPECT_EQ(load_error(ErrorKind::data,
                       "store,date,y\na,2020-01-01,1\na,2020-01-01,2\nb,2020-01-01,3\na,2020-01-02,4\n"),
            twice + "remove one of them");
  config.id = {"stor"};
  EXPECT_EQ(load_error(ErrorKind::config, text, config),
            "data.id: f.csv has no column 'stor' (did you mean 'store'?)");
  config.id = {"date"};
  EXPECT_EQ(
      load_error(ErrorKind::data, text, config),
      "f.csv: column 'date' names 2 series, but no column holds dates: data.panel = yes reads the rows of "
      "each series in their order, data.id = none one series");
}

TEST_F(LongTable, ANumberOfTheRowIsNoSeries) {
  const Series s =
      load("id,date,store,sales\n0,2020-01-01,p,1\n1,2020-01-01,q,2\n2,2020-01-02,p,3\n3,2020-01-02,q,4\n");
  EXPECT_EQ(s.modes[0].name, "store");
  EXPECT_THAT(cells(s), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(s.notes, Contains("column 'id' is a row index and is dropped"));
}

TEST_F(LongTable, RowsOfASeriesArePooled) {
  ForecastDataConfig config;
  config.resample = "1 day";
  const std::string text = kHead +
                           "A,2020-01-02 01:00,5\nB,2020-01-01 03:00,2\nA,2020-01-01 09:00,3\nA,2020-01-01 "
                           "05:00,4\nA,2020-01-01 09:00,\n";
  EXPECT_THAT(cells(load(text, config)), ElementsAre(3.5, 2, 5, -1));
  config.resample_by = "sum";
  EXPECT_THAT(cells(load(text, config)), ElementsAre(7, 2, 5, -1));
  config.resample_by = "last";
  const Series s = load(text, config);
  EXPECT_THAT(cells(s), ElementsAre(3, 2, 5, -1)) << "the last by its date, not in the file";
  EXPECT_EQ(s.where(1, 0), folder_.path("f.csv") + ":2: column 'y'");
}

TEST_F(LongTable, TextsBesideOneRowADateMakeNoLongTable) {
  const Series s = load("date,wind,y\n2020-01-01,N,1\n2020-01-02,S,2\n2020-01-03,N,3\n");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("y"));
  EXPECT_FALSE(s.long_layout.has_value());
}

TEST_F(LongTable, WithNoneATableIsWide) {
  ForecastDataConfig config;
  config.id = {"none"};
  config.dates = "rows";
  const Series s = load(kHead + "A,2020-01-01,1\nB,2020-01-01,3\nA,2020-01-02,2\n", config);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("y"));
  EXPECT_THAT(cells(s), ElementsAre(1, 3, 2));
}

TEST_F(LongTable, SaysWhatIsWrong) {
  EXPECT_EQ(
      load_error(ErrorKind::data, kHead + "A,2020-01-01,1\nB,2020-01-01,2\nA,2020-01-02,3\nA,2020-01-01,4\n",
                 [] {
                   ForecastDataConfig config;
                   config.id = {"unique_id"};
                   return config;
                 }()),
      "f.csv:5: series 'A' has a second row for 2020-01-01, the first is in line 2: remove one of them");
  EXPECT_EQ(load_error(ErrorKind::data, kHead + "A,2020-01-02,1\nB,2020-01-01,2\nC,2020-01-03,3\n"),
            "f.csv: each of the 3 rows is its own series with unique_id as series id; data.id = none reads "
            "one series");
  EXPECT_EQ(load_error(ErrorKind::data,
                       "p,q,ds,y\na,c,2020-01-01,1\nb,d,2020-01-01,2\na,d,2020-01-02,3\nb,c,2020-01-02,3\n"),
            "f.csv: the rows belong to several series, and the columns 'p', 'q' could be the series id: set "
            "data.id to one");
  EXPECT_EQ(
      load_error(ErrorKind::data,
                 "store,item,ds,y\na,c,2020-01-01,1\nb,d,2020-01-01,2\na,d,2020-01-02,3\nb,c,2020-01-02,3\n"),
      "f.csv: the rows belong to several series, and the columns 'store', 'item' could be the series id: set "
      "data.id to one");
  ForecastDataConfig config;
  config.id = {"unique_id"};
  EXPECT_EQ(load_error(ErrorKind::data, kHead + "A,2020-01-01,1\n,2020-01-01,2\nA,2020-01-02,1\n", config),
            "f.csv:3: column 'unique_id' must name a series, the cell is empty");
  EXPECT_EQ(
      load_error(ErrorKind::data, "unique_id,y\nA,1\nB,2\nA,3\n", config),
      "f.csv: column 'unique_id' names 2 series, but no column holds dates: data.panel = yes reads the rows "
      "of each series in their order, data.id = none one series");
  EXPECT_EQ(
      load_error(ErrorKind::data,
                 kHead + "A,2020-01-01,1\nB,2020-01-01,2\nA,2020-01-02,3\nA,2020-01-03,3\nA,2020-01-05,3\nA,"
                         "2020-01-05 12:00,3\n",
                 config),
      "f.csv:7: expected dates at a constant step (gaps allowed); the most common step is 1 d (2 of 4), but "
      "2020-01-05 00:00 and 2020-01-05 12:00 (lines 6 and 7) are 12 h apart; data.resample = \"1 d\" or "
      "another step pools dates, data.dates = \"rows\" reads "
      "the rows as equally spaced");
}

TEST_F(LongTable, SeriesThatShareFewDatesAreRefusedBeforeTheyTakeMemory) {
  std::string text = kHead;
  for (int i = 0; i < 3000; ++i)
    text += "s" + std::to_string(i) + "," + std::to_string(1577836800 + 60 * (3000 - i)) + ",1\n";
  text += "s0,1577836800,2\n";
  EXPECT_EQ(
      load_error(ErrorKind::data, text),
      "f.csv: its 3000 series share too few dates: pivoted they would have 9003000 cells for 3001 rows");
}

TEST_F(LongTable, SecondsSince1970AreDates) {
  const Series first = load("a,y\n1577836800,1\n1577840400,2\n1577844000,3\n");
  EXPECT_THAT(first.modes[0].labels, ElementsAre("y"));
  EXPECT_EQ(first.time.frequency_text(), "1 h");
  EXPECT_EQ(first.time.at(0), 1577836800);
  EXPECT_EQ(first.time.text_at(3), "1577847600");
  const Series named = load("y,Timestamp\n1,1577836800000\n2,1577840400000\n3,1577847600000\n");
  EXPECT_EQ(named.time.text_at(4), "1577851200000");
  EXPECT_EQ(named.rows(), 4) << "the third hour is a gap";
  ForecastDataConfig config;
  config.time_column = "when";
  EXPECT_EQ(load("y,when\n1,1577836800\n2,1577840400\n", config).time.at(1), 1577840400);
  for (const char* text :
       {"a,y\n1577836800,1\n1577840400,2\n1577844001,3\n",   // no constant step
        "y,a\n1,1577836800\n2,1577840400\n3,1577844000\n"})  // neither the first column nor named as time
    EXPECT_EQ(load(text).modes[0].labels.size(), 2U) << text;
  for (const char* text : {"time,y\n1577836800.5,1\n1577840400.5,2\n",     // parts of seconds are dropped
                           "time,y\n1577836800001,1\n1577840400001,2\n"})  // milliseconds, too
    EXPECT_EQ(load(text).time.at(1), 1577840400) << text;
  EXPECT_FALSE(load("time,y\n99999999,1\n100000000,2\n100000001,3\n").time.dated)
      << "the range begins in 1973";
  EXPECT_EQ(load("time,y\n100000000,1\n100000001,2\n").time.at(1), 100000001);
  EXPECT_EQ(load("time,y\n3999999998,1\n3999999999,2\n").time.at(1), 3999999999);
  EXPECT_FALSE(load("time,y\n3999999999,1\n4000000000,2\n").time.dated);
}

}  // namespace
}  // namespace modewise::data
