// Corner cases of reading series: format names, row index columns, date parts, missing values.

#include <gmock/gmock.h>

#include <cmath>

#include "modewise/data/forecasting/load_series.h"
#include "modewise/data/forecasting/simulate.h"
#include "modewise/data/forecasting/splits.h"
#include "modewise/io/arrays/npy.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Reading : public testing::Test {
 protected:
  Series load(const std::string& text, ForecastDataConfig config = {}, const std::string& name = "f.csv") {
    config.path = folder_.write(name, text);
    return load_series(config);
  }
  std::vector<std::string> labels(const std::string& text, ForecastDataConfig config = {},
                                  const std::string& name = "f.csv") {
    return load(text, std::move(config), name).modes.back().labels;
  }
  ScratchFolder folder_;
};

TEST_F(Reading, FormatsGoByNamesInAnyCase) {
  EXPECT_THAT(labels("a\tb\n1\t2\n3\t4\n", {}, "f.TSV"), ElementsAre("a", "b"));
  EXPECT_THAT(labels("1\tb\n1\t2\n3\t4\n", {}, "f.tsv"), ElementsAre("1", "b"));
  const std::vector<float> values = {1, 2, 3, 4};
  io::write_npy(folder_.path("f.NPY"), io::make_array({2, 2}, std::span<const float>(values)));
  ForecastDataConfig config;
  config.path = folder_.path("f.NPY");
  EXPECT_EQ(load_series(config).rows(), 2);
  // Numbers separated by spaces are numeric text, although the first row could be names.
  const Series spaces = load("\n773869 767541\n64.375 67.625\n62.5 68.5\n64.5 63.75\n", {}, "f.txt");
  EXPECT_EQ(spaces.rows(), 4);
  EXPECT_THAT(spaces.warnings, IsEmpty());
  EXPECT_FALSE(spaces.modes[0].ordered);
  ForecastDataConfig header;
  header.header = "yes";
  EXPECT_THAT(labels("60,62\n61,63\n", header, "c.txt"), ElementsAre("60", "62"));
  header.header = "no";
  EXPECT_THAT(load("60,62\n61,63\n59,62\n", header, "c.txt").warnings, IsEmpty());
  ForecastDataConfig text;
  text.format = "text";
  EXPECT_THAT(load("60,62\n61,63\n59,62\n", text, "c.txt").warnings, IsEmpty());
}

TEST_F(Reading, ElementsOfSixteenBitsAndOfOne) {
  ForecastDataConfig config;
  config.path = folder_.path("t.npy");
  io::Array array{
      io::Array::f16, {2, 1}, {std::byte{0x00}, std::byte{0x47}, std::byte{0x00}, std::byte{0xC7}}};
  io::write_npy(config.path, array);
  EXPECT_EQ(value_at(load_series(config), 0), 7);
  EXPECT_EQ(value_at(load_series(config), 1), -7);
  io::write_npy(config.path, {io::Array::boolean, {2, 1}, {std::byte{1}, std::byte{0}}});
  EXPECT_EQ(value_at(load_series(config), 0), 1);
}

TEST_F(Reading, TheDelimiterMayBeNamed) {
  ForecastDataConfig config;
  config.delimiter = ",";
  EXPECT_THAT(labels("x;y,z\n1,2\n3,4\n", config), ElementsAre("x;y", "z"));
}

TEST_F(Reading, OneRowCountsNothing) {
  EXPECT_THAT(labels("id,a\n1,5\n"), ElementsAre("id", "a"));
  EXPECT_THAT(labels("id,a\n1,5\n2,6\n"), ElementsAre("a"));
  EXPECT_THAT(labels("id,a\n0,5\n2,6\n"), ElementsAre("id", "a"));
  EXPECT_THAT(labels("IDX,a\n2,5\n3,6\n"), ElementsAre("IDX", "a"));
}

TEST_F(Reading, PartsOfDatesHaveTheirLimits) {
  const auto text = [&](const char* header, const char* first, const char* second) {
    return load(std::string(header) + ",a\n" + first + ",5\n" + second + ",6\n").time.text_at(0);
  };
  const char* const all = "year,month,day,hour,minute,second";
  EXPECT_EQ(text(all, "1,1,1,0,0,0", "1,1,1,0,0,7"), "0001-01-01 00:00:00");
  EXPECT_EQ(text(all, "9999,12,31,23,59,58", "9999,12,31,23,59,59"), "9999-12-31 23:59:58");
  EXPECT_EQ(text(all, "2020,2,28,24,59,60", "2020,2,29,2,0,0"), "2020-02-29 01:00:00");
  EXPECT_EQ(text("year,month,day,hour,minute", "2020,2,29,3,4", "2020,2,29,3,5"), "2020-02-29 03:04");
  EXPECT_EQ(text("year,month,day", "2020,2,28", "2020,2,29"), "2020-02-28");
  EXPECT_EQ(load("year,a\n2018,5\n2019,6\n").time.at(0), io::parse_date_time("2018-01-01").value());
  for (const std::string wrong :
       {"0,2,3,4,5,6", "10000,2,3,4,5,6", "1,0,3,4,5,6", "1,13,3,4,5,6", "1,2,0,4,5,6", "1,1,32,4,5,6",
        "1,2,3,-1,5,6", "1,2,3,25,5,6", "1,2,3,4,-1,6", "1,2,3,4,60,6", "1,2,3,4,5,-1", "1,2,3,4,5,61",
        "1,2,3,4,5,6.5"}) {
    std::string spaced;
    for (const char c : wrong) spaced += c == ',' ? ", " : std::string(1, c);
    EXPECT_EQ(error_of(ErrorKind::data, [&] { text(all, wrong.c_str(), "1,2,3,4,5,7"); }),
              folder_.path("f.csv") +
                  ":2: the columns year, month, day, hour, minute, second must give a date, "
                  "got " +
                  spaced);
  }
}

TEST_F(Reading, StartsAndStepsSetTheClock) {
  ForecastDataConfig config;
  const auto second = [&](const char* start, const char* step) {
    config.start = start;
    config.step = step;
    return load("a\n1\n2\n3\n", config).time.text_at(1);
  };
  EXPECT_EQ(second("2019-03-01", "1 d"), "2019-03-02");
  EXPECT_EQ(second("2019-03-01", "1 min"), "2019-03-01 00:01");
  EXPECT_EQ(second("2019-03-01", "30 h"), "2019-03-02 06:00");
  EXPECT_EQ(second("2019-03-01 10:00", "1 d"), "2019-03-02 10:00");
  EXPECT_EQ(second("2019-03-01 10:00:00", "1 d"), "2019-03-02 10:00:00");
  EXPECT_EQ(second("2019-03-01", "61 s"), "2019-03-01 00:01:01");
  config.start = "01.02.2020";
  EXPECT_THAT(load("a\n1\n2\n", config).warnings,
              ElementsAre("data.start = 01.02.2020 is read as day.month.year; day and month are ambiguous"));
  config.start = "2020-02-01";
  EXPECT_THAT(load("a\n1\n2\n", config).warnings, IsEmpty());
}

TEST_F(Reading, MarksOfMissingCellsAreCounted) {
  ForecastDataConfig config;
  config.missing_values = {-9999, -1};
  const std::vector<double> values = {1, -9999, -1, HUGE_VAL, 3, 4};
  config.path = folder_.path("f.npy");
  io::write_npy(config.path, io::make_array({3, 2}, std::span<const double>(values)));
  EXPECT_THAT(load_series(config).notes,
              ElementsAre("1 infinite cell treated as missing", "2 cells of -9999 or -1 treated as missing"));
  // Fill values are compared with a tolerance of 1e-6; four of them are reported.
  EXPECT_THAT(load("a\n1.000002e20\n-0.999998e20\n9.96923e36\n1e19\n").warnings, IsEmpty());
  EXPECT_EQ(load("a\n1e20\n1.0000001e20\n1.0000002e20\n1.0000003e20\n1.0000004e20\n1\n").warnings.size(), 4U);
}

TEST_F(Reading, ColumnsMayBeChosenOfWhatIsNoTable) {
  ForecastDataConfig config;
  config.simulate = "logistic";
  config.simulate_rows = 3;
  config.columns = {"map3", "map1"};
  const Series all = simulate_logistic(config.logistic, 3, static_cast<uint64_t>(config.simulate_seed));
  const Series chosen = load_series(config);
  EXPECT_THAT(chosen.modes[0].labels, ElementsAre("map3", "map1"));
  for (int64_t row = 0; row < 3; ++row) {
    EXPECT_EQ(value_at(chosen, 2 * row), value_at(all, row * config.logistic.sites + 2));
    EXPECT_EQ(value_at(chosen, 2 * row + 1), value_at(all, row * config.logistic.sites));
  }
  EXPECT_FALSE(chosen.place);
}

TEST_F(Reading, SimulatedModesHaveNoOrder) {
  for (const char* system : {"lorenz96", "logistic", "seasonal"}) {
    ForecastDataConfig config;
    config.simulate = system;
    config.simulate_rows = 2;
    for (const SeriesMode& mode : load_series(config).modes)
      EXPECT_FALSE(mode.ordered) << system << mode.name;
  }
}

TEST_F(Reading, FoldersAreLabelledByWhatTellsTheirFilesApart) {
  const auto modes = [&](const std::vector<std::string>& names) {
    const ScratchFolder folder;
    for (const std::string& name : names) folder.write(name + ".csv", "a,b\n1,2\n3,4\n");
    folder.write(".hidden.csv", "c\n1\n");
    ForecastDataConfig config;
    config.path = folder.path().string();
    const Series s = load_series(config);
    EXPECT_EQ(s.modes[0].name, "file");
    EXPECT_FALSE(s.modes[0].ordered || s.modes[1].ordered);
    EXPECT_EQ(s.header, true);
    EXPECT_EQ(s.where(1, 1), folder.path(names[0] + ".csv") + ":3: column 'b'");
    return s.modes[0].labels;
  };
  EXPECT_THAT(modes({"x_ab_1", "x_ac_1", "x_d_1"}), ElementsAre("ab", "ac", "d"));
  EXPECT_THAT(modes({"x_1", "x_y_1"}), ElementsAre("x_1", "x_y_1"));  // the first name would be empty
  EXPECT_THAT(modes({"aé1", "aé2"}), ElementsAre("aé1", "aé2"));
  EXPECT_THAT(modes({"a-1", "a-2"}), ElementsAre("1", "2"));
}

TEST_F(Reading, TextThatIsTheSameEverywhereNamesNoFiles) {
  folder_.write("d/p.csv", "station,a\nEast,1\nEast,2\n");
  ForecastDataConfig config;
  config.path = folder_.path("d");
  EXPECT_EQ(load_series(config).modes[0].name, "file");
  folder_.write("d/q.csv", "station,a\nEast,3\nEast,4\n");
  EXPECT_THAT(load_series(config).modes[0].labels, ElementsAre("p", "q"));
  folder_.write("d/q.csv", "station,a\nWest,3\nWest,4\n");
  const Series named = load_series(config);
  EXPECT_THAT(named.modes[0].labels, ElementsAre("East", "West"));
  EXPECT_EQ(named.where(1, 1), folder_.path("d/q.csv") + ":3: column 'a'");
  EXPECT_FALSE(named.modes[0].ordered || named.modes[1].ordered);
}

TEST_F(Reading, DroppedColumnsMayStandElsewhere) {
  folder_.write("d/p.csv", "a,b,c\n1,2,3\n4,5,6\n");
  folder_.write("d/q.csv", "b,a,c\n8,7,9\n11,10,12\n");
  ForecastDataConfig config;
  config.path = folder_.path("d");
  config.drop = {"b"};
  const Series s = load_series(config);
  EXPECT_THAT(s.modes[1].labels, ElementsAre("a", "c"));
  EXPECT_EQ(value_at(s, 2), 7);
  EXPECT_EQ(value_at(s, 7), 12);
}

TEST_F(Reading, DatesOfSplitsMayHaveAnOffset) {
  Series s = make_series({100, 1}, [](int64_t) { return 0.0; });
  s.time = {true, 0, 86400, 0, 0, 100, io::read_date_time("1970-01-01")->style};
  ForecastDataConfig config;
  config.split = "dates";
  config.split_dates = {"1970-02-01T00:00+01:00", "1970-03-01T00:00-01:00"};
  EXPECT_EQ(make_splits(config, s).train.end, 31);       // 31 January 23:00
  EXPECT_EQ(make_splits(config, s).validation.end, 60);  // 1 March 01:00
}

}  // namespace
}  // namespace modewise::data
