#include "modewise/data/forecasting/splits.h"

#include <gmock/gmock.h>

#include "modewise/data/forecasting/windows.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::HasSubstr;

Series rows(int64_t count) {
  return make_series({count, 1}, [](int64_t) { return 0.0; });
}
Splits split(const std::string& rule, int64_t count, ForecastDataConfig config = {}) {
  config.split = rule;
  return make_splits(config, rows(count));
}
int64_t test_windows(const Splits& splits, int64_t horizon = 96) {
  return cut_windows(splits, {96, horizon}).test.size();
}

TEST(Splits, RatioCutsAsTslib) {
  const Splits s = split("auto", 52696);
  EXPECT_EQ(s.train.end, 36887);
  EXPECT_EQ(s.validation.begin, 36887);
  EXPECT_EQ(s.validation.end, 52696 - 10539);
  EXPECT_EQ(s.test.end, 52696);
  EXPECT_EQ(s.rule, "ratio 0.7 / 0.1 / 0.2");
}

TEST(Splits, TestWindowCountsOfThePublishedSets) {
  EXPECT_EQ(test_windows(split("ratio", 52696)), 10444);       // Weather
  EXPECT_EQ(test_windows(split("ratio", 7588)), 1422);         // Exchange
  EXPECT_EQ(test_windows(split("ett_hour", 17420)), 2785);     // ETTh1
  EXPECT_EQ(test_windows(split("ett_minute", 69680)), 11425);  // ETTm1
  EXPECT_EQ(test_windows(split("ratio", 26304)), 5165);        // ECL
  EXPECT_EQ(test_windows(split("ratio", 17544)), 3413);        // Traffic
  EXPECT_EQ(test_windows(split("solar", 52560)), 10417);       // Solar
  EXPECT_EQ(test_windows(split("ett_hour", 17420), 720), 2161);
}

TEST(Splits, EttLeavesLaterRowsUnused) {
  const Splits hour = split("ett_hour", 17420);
  EXPECT_EQ(hour.train.rows(), 8640);
  EXPECT_EQ(hour.validation.rows(), 2880);
  EXPECT_EQ(hour.test.rows(), 2880);
  EXPECT_EQ(hour.test.end, 14400);
  EXPECT_EQ(split("ett_minute", 69680).test.end, 57600);
  EXPECT_EQ(error_of(ErrorKind::data, [] { split("ett_hour", 1000); }),
            "test: the split ett_hour (12, 4 and 4 months of 30 days) needs 14400 rows, got 1000");
}

TEST(Splits, SolarGivesTheRestToTest) {
  const Splits s = split("solar", 105);  // int(73.5), int(10.5)
  EXPECT_EQ(s.train.begin, 0);
  EXPECT_EQ(s.train.end, 73);
  EXPECT_EQ(s.validation.end, 83);
  EXPECT_EQ(s.test.end, 105);
  const Splits ratio = split("ratio", 105);
  EXPECT_EQ(ratio.test.begin, 84) << "the ratio rule gives the rest to validation";
}

TEST(Splits, RatiosAreAnyThatAddUpToOne) {
  ForecastDataConfig config;
  config.split_ratios = {0.6, 0.2, 0.2};
  EXPECT_EQ(split("ratio", 100, config).train.end, 60);
  config.split_ratios = {0.6, 0.2, 0.1};
  EXPECT_EQ(error_of(ErrorKind::config, [&] { split("ratio", 100, config); }),
            "data.split_ratios: expected numbers that add up to 1, got 0.6 + 0.2 + 0.1 = 0.9");
  config.split_ratios = {0.8, 0.2};
  EXPECT_EQ(error_of(ErrorKind::config, [&] { split("ratio", 100, config); }),
            "data.split_ratios: expected three numbers (training, validation, test), got 2");
  config.split_ratios = {0.8, 0, 0.2};
  EXPECT_THAT(error_of(ErrorKind::data, [&] { split("ratio", 100, config); }),
              HasSubstr("leaves no rows for validation"));
  config.split_ratios = {0.89, 0.1, 0.01};
  EXPECT_THAT(error_of(ErrorKind::data, [&] { split("ratio", 20, config); }),
              HasSubstr("leaves no rows for test"));
}

TEST(Splits, AShareOfNothingLeavesNoTest) {
  ForecastDataConfig config;
  config.split_ratios = {0.8, 0.2, 0};
  const Splits all = split("ratio", 105, config);
  EXPECT_EQ(all.train.end, 84);
  EXPECT_EQ(all.validation.end, 105);
  EXPECT_EQ(all.test.rows(), 0);
}

TEST(Splits, TooFewRowsForASplit) {
  EXPECT_EQ(error_of(ErrorKind::data, [] { split("ratio", 1); }),
            "test: the split 'ratio 0.7 / 0.1 / 0.2' leaves no rows for training (1 row, 0 to 0)");
}

TEST(Splits, DatesAreBorders) {
  Series s = rows(100);
  s.time = {true, 0, 86400, 0, 0, 100, io::read_date_time("1970-01-01")->style};
  ForecastDataConfig config;
  config.split = "dates";
  config.split_dates = {"1970-02-01", "1970-03-01"};
  const Splits two = make_splits(config, s);
  EXPECT_EQ(two.train.end, 31);
  EXPECT_EQ(two.validation.end, 59);
  EXPECT_EQ(two.test.end, 100);
  EXPECT_EQ(two.rule, "dates 1970-02-01, 1970-03-01");
  config.split_dates.push_back("1970-03-11");
  EXPECT_EQ(make_splits(config, s).test.end, 69);

  const auto message = [&](ErrorKind kind) { return error_of(kind, [&] { make_splits(config, s); }); };
  config.split_dates = {"1970-03-01", "1970-02-01"};
  EXPECT_THAT(message(ErrorKind::data),
              HasSubstr("leaves no rows for validation (100 rows, 1970-01-01 to 1970-04-10)"));
  config.split_dates = {"1970-02-01", "someday"};
  EXPECT_EQ(message(ErrorKind::config),
            "data.split_dates: expected a date such as 2017-06-01, got 'someday'");
  config.split_dates = {"1970-02-01"};
  EXPECT_THAT(message(ErrorKind::config), HasSubstr("got 1 date"));
  config.split_dates = {"1970-02-01", "1970-03-01"};
  s.time = {};
  EXPECT_EQ(message(ErrorKind::data), "test: a split by dates needs dates, this source has none");
}

TEST(Splits, DatesThatStayOpenHaveTheOrderOfTheSource) {
  Series s = rows(100);
  ForecastDataConfig config;
  config.split = "dates";
  config.split_dates = {"01/02/1970", "01/03/1970"};
  s.time = {true, 0, 86400, 0, 0, 100, io::read_date_time("13/01/1970")->style};
  EXPECT_EQ(make_splits(config, s).train.end, 31);
  EXPECT_EQ(make_splits(config, s).validation.end, 59);
  s.time.style = io::read_date_time("1970-01-01")->style;
  EXPECT_EQ(error_of(ErrorKind::config, [&] { make_splits(config, s); }),
            "data.split_dates: day and month of '01/02/1970' are ambiguous; write it as 2017-06-01");
}

}  // namespace
}  // namespace modewise::data
