// Defaults of forecasting runs that depend on the data.

#include "modewise/tasks/forecasting/choose_defaults.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace modewise::tasks {
namespace {

constexpr int64_t kHour = 3600, kDay = 86400;

data::TimeAxis every(int64_t seconds, int64_t months = 0) {
  data::TimeAxis time;
  time.dated = seconds > 0 || months > 0;
  time.step = seconds;
  time.months = months;
  return time;
}

TEST(UsualHorizon, FollowsTheStep) {
  EXPECT_EQ(usual_horizon(every(0), 1000), 96);  // no dates
  for (const int64_t seconds : {1L, 600L, 900L, kHour}) EXPECT_EQ(usual_horizon(every(seconds), 1000), 96);
  EXPECT_EQ(usual_horizon(every(6 * kHour), 1000), 28);  // a week
  EXPECT_EQ(usual_horizon(every(kDay), 1000), 14);
  EXPECT_EQ(usual_horizon(every(7 * kDay), 1000), 13);  // a quarter
  EXPECT_EQ(usual_horizon(every(0, 1), 1000), 12);
  EXPECT_EQ(usual_horizon(every(0, 3), 1000), 8);
  EXPECT_EQ(usual_horizon(every(0, 12), 1000), 5);
}

TEST(UsualHorizon, LeavesTwoWindowsToEvaluateItBy) {
  EXPECT_EQ(usual_horizon(every(0, 1), 14), 12);
  EXPECT_EQ(usual_horizon(every(0, 1), 12), 11);
  EXPECT_EQ(usual_horizon(every(kHour), 40), 24);  // 39: one day
  EXPECT_EQ(usual_horizon(every(kHour), 24), 23);
  EXPECT_EQ(usual_horizon(every(kHour), 3), 2);
  EXPECT_EQ(usual_horizon(every(kHour), 1), 1);
}

TEST(UsualLookback, IsWholeSeasonsOfWhatHalfTheRowsHold) {
  EXPECT_EQ(usual_lookback(every(kHour), 96, 8000), 96);
  EXPECT_EQ(usual_lookback(every(kHour), 96, 384), 96);  // 192 − 96 is just enough
  EXPECT_EQ(usual_lookback(every(kHour), 96, 382), 72);  // 95: three days
  EXPECT_EQ(usual_lookback(every(0, 1), 12, 100), 36);   // 38: three years
  EXPECT_EQ(usual_lookback(every(kDay), 14, 60), 14);    // 16: two weeks
  EXPECT_EQ(usual_lookback(every(0, 1), 12, 40), 8);     // less than a season
  EXPECT_EQ(usual_lookback(every(0), 20, 90), 25);
  EXPECT_EQ(usual_lookback(every(0, 3), 2, 21), 8);
  EXPECT_EQ(usual_lookback(every(0), 5, 6), 1);
}

TEST(SeasonalLookback, IsTenSeasonsWithinBounds) {
  EXPECT_EQ(seasonal_lookback(24, 96, 8000), 240);
  EXPECT_EQ(seasonal_lookback(12, 12, 8000), 120);
  EXPECT_EQ(seasonal_lookback(7, 14, 8000), 96);        // 70 are fewer than the default
  EXPECT_EQ(seasonal_lookback(288, 96, 80000), 1728);   // six fit into 2,000 rows
  EXPECT_EQ(seasonal_lookback(1440, 96, 80000), 4320);  // three days of minutes do not
  EXPECT_EQ(seasonal_lookback(1, 5, 8000), 96);
  EXPECT_EQ(seasonal_lookback(24, 96, 500), 144);  // 154 of half the rows: six days
}

data::Series series_of(int64_t rows, data::TimeAxis time) {
  data::Series series;
  series.values = at::zeros({rows, 1}, at::kDouble);
  series.time = time;
  series.time.length = rows;
  return series;
}

TEST(ChooseDefaults, SetsWhatIsOpenAndSaysSo) {
  ForecastConfig config;
  const data::Splits splits{{0, 100}, {100, 114}, {114, 144}, ""};
  EXPECT_EQ(choose_defaults(config, series_of(144, every(0, 1)), splits),
            "chosen for 144 rows, one every 1 month: forecast.horizon = 12, forecast.lookback = 36, "
            "train.epochs = 300, train.patience = 30");
  EXPECT_EQ(config.forecast.horizon, 12);
  EXPECT_EQ(config.forecast.lookback, 36);
  EXPECT_EQ(config.train.epochs, 300);  // 53 windows: one step per epoch
  EXPECT_EQ(config.train.patience, 30);
  EXPECT_EQ(config.model.patch.length, 16);
  EXPECT_EQ(choose_defaults(config, series_of(144, every(0, 1)), splits), "");
}

TEST(ChooseDefaults, KeepsWhatIsGiven) {
  ForecastConfig config;
  config.forecast.horizons = {3, 6};
  config.train.epochs = 2;
  const data::Splits splits{{0, 21}, {21, 30}, {30, 30}, ""};
  EXPECT_EQ(choose_defaults(config, series_of(30, every(0)), splits),
            "chosen for 30 rows: forecast.lookback = 4, model.patch.length = 4, .stride = 2");
  EXPECT_EQ(config.forecast.horizon, 0);
  EXPECT_EQ(config.train.epochs, 2);
  EXPECT_EQ(config.train.patience, 3);
}

TEST(ChooseDefaults, PatchesAreShortenedForModelsThatHaveThem) {
  const data::Splits splits{{0, 21}, {21, 27}, {27, 30}, ""};
  for (const auto& [model, length] :
       {std::pair("hot", 4), {"patchtst", 4}, {"dlinear", 16}, {"repeat", 16}, {"tide", 16}}) {
    ForecastConfig config;
    config.model.use_model(model);
    config.forecast.horizon = 6;
    config.train.epochs = 1;
    choose_defaults(config, series_of(30, every(0)), splits);
    EXPECT_LT(config.forecast.lookback, 16) << model;
    EXPECT_EQ(config.model.patch.length, length) << model;
  }
}

TEST(ChooseDefaults, AModelThatCountsInSeasonsGetsThemFromTheStep) {
  const data::Splits months{{0, 100}, {100, 114}, {114, 144}, ""};
  const auto chosen = [](const data::Series& series, const data::Splits& splits, int64_t period,
                         int64_t lookback) {
    ForecastConfig config;
    config.model.use_model("seasonal");
    config.model.period = period;
    config.forecast.lookback = lookback;
    config.forecast.horizon = 12;
    config.train.epochs = 1;
    return choose_defaults(config, series, splits);
  };
  const data::Series dated = series_of(144, every(0, 1)), plain = series_of(144, every(0));
  EXPECT_EQ(chosen(dated, months, 0, 0),
            "chosen for 144 rows, one every 1 month: forecast.lookback = 36, model.period = 12");
  EXPECT_EQ(chosen(dated, months, 0, 11), "chosen for 144 rows, one every 1 month: model.period = 1");
  EXPECT_EQ(chosen(dated, months, 5, 0), "chosen for 144 rows, one every 1 month: forecast.lookback = 35");
  EXPECT_EQ(chosen(plain, months, 0, 0), "chosen for 144 rows: forecast.lookback = 24, model.period = 24");
  EXPECT_EQ(chosen(series_of(144, every(7 * kDay)), months, 0, 0),
            "chosen for 144 rows, one every 7 d: forecast.lookback = 38, model.period = 1");
  EXPECT_EQ(chosen(dated, months, 5, 20), "");
}

TEST(ChooseDefaults, ManyWindowsNeedFewEpochs) {
  ForecastConfig config;
  const data::Splits splits{{0, 8640}, {8640, 11520}, {11520, 14400}, ""};
  choose_defaults(config, series_of(14400, every(kHour)), splits);
  EXPECT_EQ(config.train.epochs, 10);  // 8,449 windows, 264 whole batches
  EXPECT_EQ(config.train.patience, 3);
  config.train.epochs = config.train.patience = train::TrainConfig::kOpenEpochs;
  config.train.batch_size = 256;
  choose_defaults(config, series_of(14400, every(kHour)), splits);
  EXPECT_EQ(config.train.epochs, 46);  // ⌈1500 / 33⌉
  EXPECT_EQ(config.train.patience, 4);
  EXPECT_EQ(config.model.window.centre, "mean");
}

TEST(ChooseDefaults, APatienceThatIsGivenStays) {
  const data::Splits splits{{0, 100}, {100, 114}, {114, 144}, ""};
  for (const int64_t patience : {0, 3, 4}) {
    ForecastConfig config;
    config.train.patience = patience;
    choose_defaults(config, series_of(144, every(0, 1)), splits);
    EXPECT_EQ(config.train.epochs, 300);
    EXPECT_EQ(config.train.patience, patience);
  }
}

TEST(ChooseDefaults, APanelHasMoreStepsAndTheLastValueAsCentre) {
  const ForecastSizes sizes{
      every(0, 1), "9 series", 60, 12, [] { return 12; }, [](const ForecastConfig&) { return 3200; }, true};
  ForecastConfig config;
  config.forecast.horizon = 12;
  config.forecast.lookback = 36;
  EXPECT_EQ(
      choose_defaults(config, sizes),
      "chosen for 9 series: model.window.centre = last, train.epochs = 30, train.patience = 7");  // of 100
                                                                                                  // steps
  EXPECT_EQ(config.train.patience, 7);
  config.model.window.centre = "mean";
  EXPECT_EQ(choose_defaults(config, sizes), "");
  EXPECT_EQ(config.model.window.centre, "mean");
}

}  // namespace
}  // namespace modewise::tasks
