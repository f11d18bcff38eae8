#include "modewise/data/forecasting/describe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/data/forecasting/load_series.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Describe, SaysWhatAFileHolds) {
  ScratchFolder folder;
  ForecastDataConfig config;
  config.path =
      folder.write("f.csv",
                   "date,a,b\n2020-01-01,1,10\n2020-01-02,2,NA\n2020-01-04,3,30\n2020-01-05,6,NA\n"
                   "2020-01-06,1,10\n2020-01-07,2,NA\n2020-01-08,3,30\n2020-01-09,6,NA\n2020-01-10,0,7\n");
  const Description d = describe(load_series(config), config, {2, 1});
  EXPECT_EQ(d.rows, 10);
  EXPECT_EQ(d.cells, 20);
  EXPECT_EQ(d.missing_cells, 6);
  EXPECT_TRUE(d.dated);
  EXPECT_EQ(d.first_time, "2020-01-01");
  EXPECT_EQ(d.last_time, "2020-01-10");
  EXPECT_EQ(d.frequency, "1 d");
  ASSERT_THAT(d.variables, SizeIs(2));
  EXPECT_EQ(d.variables[0].name, "a");
  EXPECT_EQ(d.variables[0].missing, 1);
  EXPECT_EQ(d.variables[0].min, 0);
  EXPECT_EQ(d.variables[0].max, 6);
  EXPECT_DOUBLE_EQ(d.variables[0].mean, 24.0 / 9);
  EXPECT_DOUBLE_EQ(d.variables[0].stddev, 2.0);  // Σx² / 9 − mean² = 100/9 − 64/9
  EXPECT_EQ(d.variables[1].missing, 5);
  ASSERT_THAT(d.gaps, SizeIs(1));
  EXPECT_EQ(d.gaps[0].first_row, 2);
  EXPECT_EQ(d.gaps[0].first_time, "2020-01-03");
  ASSERT_THAT(d.splits, SizeIs(3));
  EXPECT_EQ(d.splits[0].rows, 7);
  EXPECT_EQ(d.splits[0].windows, 5);
  EXPECT_EQ(d.splits[0].last_time, "2020-01-07");
  EXPECT_EQ(d.splits[1].windows, 1);
  EXPECT_EQ(d.splits[2].windows, 2);
  EXPECT_EQ(to_json(d)["variables"][1]["missing"], 5);
}

TEST(Describe, BecomesJson) {
  Series s = make_series({10, 1, 2}, [](int64_t i) { return static_cast<double>(i % 4); });
  s.source = "s";
  s.notes = {"note"};
  s.warnings = {"doubt"};
  s.observed = s.values.ge(0);
  for (const int64_t row : {2, 3, 5}) s.observed[row].fill_(false);
  s.observed[8][0][1] = s.observed[4][0][0] = false;
  EXPECT_EQ(
      to_json(describe(s, {}, {2, 1})).dump(),
      R"({"cells":20,"dated":false,"first":"0","frequency":"rows",)"
      R"("gaps":[{"first":"2","first_row":2,"last":"3","rows":2},{"first":"5","first_row":5,"last":"5","rows":1}],)"
      R"("last":"9","missing_cells":8,)"
      R"("modes":[{"labels":["s0"],"name":"site","ordered":false},{"labels":["v0","v1"],"name":"variable","ordered":false}],)"
      R"("notes":["note","doubt"],"rows":10,"source":"s","split_rule":"ratio 0.7 / 0.1 / 0.2",)"
      R"("splits":[{"first":"0","last":"6","name":"training","rows":7,"windows":5},)"
      R"({"first":"7","last":"7","name":"validation","rows":1,"windows":1},)"
      R"({"first":"8","last":"9","name":"test","rows":2,"windows":2}],)"
      R"("variables":[{"deviation":1.0,"max":2.0,"mean":1.0,"min":0.0,"missing":4,"name":"v0","std":1.0},)"
      R"({"deviation":1.0,"max":3.0,"mean":2.0,"min":1.0,"missing":4,"name":"v1","std":1.0}]})");
}

TEST(Describe, ListsGapsOfSeveralRows) {
  Series s = make_series({12, 2}, [](int64_t i) { return static_cast<double>(i); });
  s.observed = s.values.ge(0);
  for (const int64_t row : {1, 2, 5, 6, 7, 9}) s.observed[row].fill_(false);
  std::string gaps;
  for (const Gap& gap : describe(s, {}, {1, 1}).gaps)
    gaps += fmt::format("{} from {}, {} to {}; ", gap.rows, gap.first_row, gap.first_time, gap.last_time);
  EXPECT_EQ(gaps, "2 from 1, 1 to 2; 3 from 5, 5 to 7; 1 from 9, 9 to 9; ");
}

TEST(Describe, StatisticsOfTheLastModeGoOverTheOthers) {
  const Series s = make_series({4, 3, 2}, [](int64_t i) { return static_cast<double>(i % 2 == 0 ? i : -i); });
  const Description d = describe(s, {}, {1, 1});
  EXPECT_EQ(d.variables[0].max, 22);
  EXPECT_EQ(d.variables[1].min, -23);
  EXPECT_FALSE(d.dated);
  EXPECT_EQ(d.last_time, "3");
  EXPECT_EQ(d.frequency, "rows");
  EXPECT_THAT(d.gaps, IsEmpty());
}

TEST(Describe, TooFewRowsAreSaidNotThrown) {
  const Series s = make_series({30, 1}, [](int64_t i) { return static_cast<double>(i); });
  const Description short_windows = describe(s, {}, {96, 96});
  EXPECT_EQ(short_windows.splits[0].windows, 0);
  ForecastDataConfig config;
  config.split = "ett_hour";
  const Description d = describe(s, config, {8, 4});
  EXPECT_THAT(d.splits, IsEmpty());
  EXPECT_THAT(d.split_problem, HasSubstr("needs 14400 rows, got 30"));
  EXPECT_THAT(to_json(d)["split_problem"], HasSubstr("needs 14400 rows"));
}

TEST(Describe, ANeverObservedVariableHasNoStatistics) {
  ScratchFolder folder;
  ForecastDataConfig config;
  config.path = folder.write("f.csv", "a,b\n1,\n2,\n3,\n");
  config.columns = {"a", "b"};
  const Description d = describe(load_series(config), config, {1, 1});
  EXPECT_TRUE(std::isnan(d.variables[1].mean));
  EXPECT_TRUE(to_json(d)["variables"][1]["mean"].is_null());
}

}  // namespace
}  // namespace modewise::data
