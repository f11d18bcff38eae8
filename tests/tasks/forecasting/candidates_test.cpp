// Candidates of --model auto for forecasting, and their evaluation splits.

#include "modewise/tasks/forecasting/candidates.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace modewise::tasks {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Settings simulated(int64_t rows, int64_t variables, std::vector<std::string> further = {}) {
  further.insert(further.end(), {"data.simulate=seasonal", fmt::format("data.simulate_rows={}", rows),
                                 fmt::format("data.seasonal.variables={}", variables)});
  return {.assignments = further};
}

/// Names of the candidates, and common settings.
struct Tried {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> settings;
};
Tried tried(const Settings& settings) {
  Tried out;
  for (const Candidate& one : forecast_candidates(settings)) {
    out.names.push_back(one.name);
    out.settings.push_back(one.settings);
  }
  return out;
}

TEST(ForecastSplits, AreEarlierOriginsOfSmallTables) {
  EXPECT_THAT(forecast_splits(simulated(300, 2)),
              ElementsAre("data.split_ratios=0.600000,0.100000,0.300000",
                          "data.split_ratios=0.500000,0.100000,0.400000",
                          "data.split_ratios=0.400000,0.100000,0.500000"));
  // At least half of the training rows are used.
  EXPECT_THAT(forecast_splits(simulated(300, 2, {"data.split_ratios=0.5,0.25,0.25"})),
              ElementsAre("data.split_ratios=0.250000,0.250000,0.500000"));
  // 1,095 validation rows have 1,000 windows of horizon 96, 1,094 rows have fewer.
  EXPECT_EQ(forecast_splits(simulated(10936, 2)).size(), 3u);
  EXPECT_THAT(forecast_splits(simulated(10950, 2)), IsEmpty());
  EXPECT_THAT(forecast_splits(simulated(300, 2, {"data.split=solar"})), IsEmpty());
}

TEST(ForecastRefit, ValidatesOnTheLastRows) {
  EXPECT_THAT(
      forecast_refit(simulated(300, 2)),
      ElementsAre("data.split=ratio", "data.split_dates=", "data.split_ratios=0.900000,0.100000,0.000000"));
  // 15,000 rows, of which the split uses 14,400: 2,880 for validation.
  EXPECT_THAT(
      forecast_refit(simulated(15000, 2, {"data.split=ett_hour"})),
      ElementsAre("data.split=ratio", "data.split_dates=", "data.split_ratios=0.808000,0.192000,0.000000"));
  // Fractions without an exact decimal still add up to 1.
  const std::string thirds =
      forecast_splits(simulated(300, 2, {"data.split_ratios=0.8333333,0.0833333,0.0833334"})).at(0);
  EXPECT_EQ(thirds, "data.split_ratios=0.750000,0.083333,0.166667");
}

TEST(ForecastCandidates, HaveTheHorizonOfTheTableAtEveryOrigin) {
  for (const std::vector<std::string>& settings : tried(simulated(300, 2)).settings)
    EXPECT_THAT(settings, Contains("forecast.horizon=29"));  // 30 validation rows have two windows
  for (const std::vector<std::string>& settings : tried(simulated(300, 2, {"forecast.horizon=7"})).settings)
    EXPECT_THAT(settings, Not(Contains(HasSubstr("forecast.horizon"))));
}

TEST(ForecastCandidates, AreEvaluatedOnSomeOfManyWindows) {
  // 1,905 windows of 96 steps: 30 series have 5.5 million cells, 2 few.
  const Tried many = tried(simulated(20000, 30)), few = tried(simulated(20000, 2));
  for (const std::vector<std::string>& settings : many.settings)
    EXPECT_THAT(settings, Contains("forecast.validation_stride=2"));
  for (const std::vector<std::string>& settings : few.settings)
    EXPECT_THAT(settings, Not(Contains(HasSubstr("validation_stride"))));
  EXPECT_THAT(few.names, Contains("ets"));
  EXPECT_THAT(many.names, Not(Contains("ets")));  // states of 28,560 series and origins
}

TEST(ForecastCandidates, HaveTheCycleThatTheRowsShow) {
  const Tried shown = tried(simulated(1000, 2));
  for (size_t i = 0; i < shown.names.size(); ++i)
    EXPECT_EQ(shown.names[i].ends_with("-cycle"),
              testing::Matches(Contains("model.window.cycle=24"))(shown.settings[i]))
        << shown.names[i];
  EXPECT_THAT(shown.names, Contains("dlinear-cycle"));
}

}  // namespace
}  // namespace modewise::tasks
