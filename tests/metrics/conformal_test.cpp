#include "modewise/metrics/conformal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/core/random.h"
#include "tests/error_of.h"

namespace modewise::metrics {
namespace {

constexpr int64_t series = 2, horizon = 3;

/// Errors of a point model: normal with standard deviation `spread(window, s)`.
template <class Spread>
CalibrationSample sample_of(int64_t windows, uint64_t seed, Spread spread) {
  CalibrationSample sample;
  sample.windows = windows;
  sample.series = series;
  sample.horizon = horizon;
  sample.nominal = {0.8, 0.95};
  sample.below.resize(static_cast<size_t>(windows * series * horizon));
  sample.above.resize(sample.below.size());
  sample.stddev.resize(static_cast<size_t>(windows * series));
  const RandomStream stream{seed, RandomSite{99}, 0};
  for (int64_t s = 0; s < series; ++s)
    for (int64_t window = 0; window < windows; ++window) {
      sample.stddev[static_cast<size_t>(s * windows + window)] = static_cast<float>(spread(window, s));
      for (int64_t step = 0; step < horizon; ++step) {
        const size_t at = sample.at(0, s, step, window);
        const double error = stream.normal(at) * spread(window, s) * static_cast<double>(step + 1);
        sample.below[at] = static_cast<float>(-error);
        sample.above[at] = static_cast<float>(error);
      }
    }
  return sample;
}

/// Fraction of the sample's targets inside the calibrated interval, by calibrated_quantiles.
double coverage(const Calibration& calibration, const CalibrationSample& sample, size_t interval) {
  int64_t inside = 0, count = 0;
  for (int64_t window = 0; window < sample.windows; ++window) {
    std::vector<float> stddev, forecast(series * horizon, 0.0f);
    for (int64_t s = 0; s < series; ++s)
      stddev.push_back(sample.stddev[static_cast<size_t>(s * sample.windows + window)]);
    const std::vector<float> quantiles = calibrated_quantiles(calibration, forecast, {}, stddev);
    const size_t levels = 2 * calibration.nominal.size() + 1, middle = calibration.nominal.size();
    for (int64_t s = 0; s < series; ++s)
      for (int64_t step = 0; step < horizon; ++step) {
        const float truth = sample.above[sample.at(0, s, step, window)];  // the forecast is 0
        const float* q = &quantiles[static_cast<size_t>(s * horizon + step) * levels];
        inside += q[middle - 1 - interval] <= truth && truth <= q[middle + 1 + interval];
        ++count;
      }
  }
  return static_cast<double>(inside) / static_cast<double>(count);
}

TEST(Conformal, HoldsWhatItPromisesOnFreshData) {
  const auto even = [](int64_t, int64_t s) { return 0.5 + static_cast<double>(s); };
  const Calibration calibration = calibrate(sample_of(2000, 1, even), {});
  const CalibrationSample fresh = sample_of(4000, 2, even);
  EXPECT_NEAR(coverage(calibration, fresh, 0), 0.80, 0.01);
  EXPECT_NEAR(coverage(calibration, fresh, 1), 0.95, 0.01);
}

TEST(Conformal, FindsThatErrorsGrowWithTheStdOfTheWindow) {
  // Errors grow over the windows; those of the new data are larger still.
  const auto growing = [](int64_t window, int64_t) { return 0.2 + 0.001 * static_cast<double>(window); };
  const Calibration calibration = calibrate(sample_of(2000, 1, growing), {});
  EXPECT_EQ(calibration.exponent, 1);
  const CalibrationSample wild = sample_of(4000, 3, [](int64_t, int64_t) { return 4.0; });
  EXPECT_NEAR(coverage(calibration, wild, 0), 0.80, 0.015);
  CalibrationConfig fixed;
  fixed.scale = "none";
  EXPECT_LT(coverage(calibrate(sample_of(2000, 1, growing), fixed), wild, 0), 0.5);
}

TEST(Conformal, UsesTheFiniteSampleRank) {
  // Scores 1 … 99 at one cell: the ⌈100·0.8⌉-th smallest is 80, the ⌈100·0.95⌉-th 95.
  CalibrationSample sample;
  sample.windows = 99;
  sample.series = sample.horizon = 1;
  sample.nominal = {0.8, 0.95};
  sample.stddev.assign(99, 1.0f);
  for (int i = 1; i <= 99; ++i) {
    sample.below.push_back(static_cast<float>(-i));
    sample.above.push_back(static_cast<float>(i));
  }
  CalibrationConfig config;
  config.sides = "shared";
  config.scale = "none";
  const Calibration calibration = calibrate(sample, config);
  EXPECT_EQ(calibration.upper, (std::vector<float>{80, 95}));
  EXPECT_EQ(calibration.lower, calibration.upper);
  EXPECT_THAT(calibration.levels(), testing::ElementsAre(0.025, 0.1, 0.5, 0.9, 0.975));
}

TEST(Conformal, BorrowsFromTheSeriesAndThenFromAllWhereScoresAreFew) {
  // One window: a cell has one score, a series 50 (1 … 50, 101 … 150), the last series 39 (201 … 239).
  CalibrationSample sample;
  sample.windows = 1;
  sample.series = 3;
  sample.horizon = 50;
  sample.nominal = {0.8, 0.95};
  sample.stddev.assign(3, 1.0f);
  for (int s = 0; s < 3; ++s)
    for (int step = 0; step < 50; ++step) {
      const bool missing = s == 2 && step >= 39;
      const auto score = static_cast<float>(100 * s + step + 1);
      sample.below.push_back(missing ? std::numeric_limits<float>::quiet_NaN() : -score);
      sample.above.push_back(missing ? std::numeric_limits<float>::quiet_NaN() : score);
    }
  CalibrationConfig config;
  config.sides = "shared";
  config.scale = "none";
  std::vector<float> wanted;  // ranks ⌈51·0.8⌉ and ⌈51·0.95⌉ of a series, ⌈140·0.8⌉ and ⌈140·0.95⌉ of all
  for (const float margin : {41.0f, 141.0f, 212.0f, 49.0f, 149.0f, 233.0f})
    wanted.insert(wanted.end(), 50, margin);
  EXPECT_EQ(calibrate(sample, config).upper, wanted);
}

// Every cell takes the margins of all series, and no half of one window has a score: each pool must be
// computed once, or the test takes hours.
TEST(Conformal, TakesManySeriesOfOneWindow) {
  CalibrationSample sample;
  sample.windows = 1;
  sample.series = 10000;
  sample.horizon = 30;
  sample.nominal = {0.8};
  sample.stddev.assign(10000, 1.0f);
  for (int i = 1; i <= 300000; ++i) {
    sample.below.push_back(static_cast<float>(-i));
    sample.above.push_back(static_cast<float>(i));
  }
  CalibrationConfig config;
  config.scale = "none";
  const Calibration calibration = calibrate(sample, config);
  EXPECT_EQ(calibration.upper, std::vector<float>(300000, 240001));  // ⌈300001·0.8⌉
}

TEST(Conformal, LeavesMissingTargetsOut) {
  const auto even = [](int64_t, int64_t) { return 1.0; };
  CalibrationSample sample = sample_of(800, 1, even);
  CalibrationSample half = sample;
  for (int64_t window = 0; window < sample.windows; window += 2)
    for (int64_t s = 0; s < series; ++s)
      for (int64_t step = 0; step < horizon; ++step)
        half.below[half.at(0, s, step, window)] = half.above[half.at(0, s, step, window)] =
            std::numeric_limits<float>::quiet_NaN();
  const Calibration calibration = calibrate(half, {});
  EXPECT_NEAR(coverage(calibration, sample_of(4000, 5, even), 0), 0.80, 0.02);
  for (float& score : half.below) score = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(error_of(ErrorKind::data, [&] { calibrate(half, {}); }),
            "calibration needs validation targets, but all of them are missing");
}

TEST(Conformal, CorrectsQuantilesThatAreTooNarrow) {
  // A quantile model that claims ±0.5 and ±0.8 around 0 for standard normal truth.
  CalibrationSample sample = sample_of(2000, 1, [](int64_t, int64_t) { return 1.0; });
  sample.shared_forecast = false;
  const std::vector<float> error = sample.above;
  sample.below.clear();
  sample.above.clear();
  for (const float reach : {0.5f, 0.8f})
    for (const float e : error) {
      sample.below.push_back(-reach - e);
      sample.above.push_back(e - reach);
    }
  const Calibration calibration = calibrate(sample, {});
  const std::vector<float> raw = {-0.8f, -0.5f, 0, 0.5f, 0.8f};
  std::vector<float> raw_block;
  for (int64_t cell = 0; cell < series * horizon; ++cell)
    raw_block.insert(raw_block.end(), raw.begin(), raw.end());
  const std::vector<float> stddev(series, 1.0f);
  const std::vector<float> q = calibrated_quantiles(calibration, {}, raw_block, stddev);
  EXPECT_NEAR(q[3], 1.2816, 0.1);  // step 1 has std 1: its 90 % and 97.5 % points
  EXPECT_NEAR(q[4], 1.9600, 0.15);
  EXPECT_TRUE(std::is_sorted(q.begin(), q.begin() + 5));
}

TEST(Conformal, ComesBackFromItsFile) {
  const std::filesystem::path path = testing::TempDir() + "calibration_roundtrip.npz";
  const Calibration written = calibrate(sample_of(200, 1, [](int64_t, int64_t) { return 1.0; }), {});
  write_calibration(path, written);
  const Calibration read = read_calibration(path);
  EXPECT_EQ(read.nominal, written.nominal);
  EXPECT_EQ(read.lower, written.lower);
  EXPECT_EQ(read.upper, written.upper);
  EXPECT_EQ(read.exponent, written.exponent);
  EXPECT_EQ(read.shared, written.shared);
  EXPECT_EQ(read.levels(), written.levels());
}

/// Errors of a point model with `spread(row)`, forecast at each row of `windows`.
template <class Spread>
CalibrationSample seasonal_sample(int64_t windows, uint64_t seed, Spread spread) {
  CalibrationSample sample = sample_of(windows, seed, [](int64_t, int64_t) { return 1.0; });
  sample.season = 24;
  for (int64_t window = 0; window < windows; ++window) sample.first_target.push_back(1000 + window);
  for (int64_t s = 0; s < series; ++s)
    for (int64_t step = 0; step < horizon; ++step)
      for (int64_t window = 0; window < windows; ++window)
        for (std::vector<float>* scores : {&sample.below, &sample.above})
          (*scores)[sample.at(0, s, step, window)] *=
              static_cast<float>(spread(sample.first_target[static_cast<size_t>(window)] + step));
  return sample;
}

TEST(Conformal, FollowsASeasonThatLowersThePinballLoss) {
  const auto by_day = [](int64_t row) { return row % 24 < 12 ? 1.0 : 0.1; };
  const Calibration calibration = calibrate(seasonal_sample(2400, 1, by_day), {});
  ASSERT_EQ(calibration.season, 24);
  EXPECT_LT(calibration.season_trial->with, 0.95 * calibration.season_trial->without);
  for (int64_t phase = 0; phase < 24; ++phase)
    EXPECT_NEAR(calibration.spread[static_cast<size_t>(phase)], phase < 12 ? 1.8 : 0.18,
                phase < 12 ? 0.3 : 0.06);
  // Forecasts of 0 at a row by day and one at night: their widths are those of normal errors.
  const std::vector<float> forecast(2 * series * horizon, 0.0f), stddev(2 * series, 1.0f);
  const std::vector<int64_t> rows = {-24 * 7 + 2, 24 * 50 + 15};
  const std::vector<float> q = calibrated_quantiles(calibration, forecast, {}, stddev, rows);
  EXPECT_NEAR(q[3], 1.28, 0.2);  // 90 % of a standard normal error
  EXPECT_NEAR(q[series * horizon * 5 + 3], 0.128, 0.03);
  EXPECT_EQ(
      error_of(ErrorKind::internal,
               [&] { calibrated_quantiles(calibration, forecast, {}, stddev, std::vector<int64_t>{7}); }),
      "calibrated_quantiles: 2 windows with 1 first target rows");
}

TEST(Conformal, WidensTheMarginsOfAWindowAboutItsForecast) {
  Calibration calibration;
  calibration.nominal = {0.5, 0.8};
  calibration.series = calibration.horizon = 1;
  calibration.lower = {0, 1};
  calibration.upper = {0, 2};
  const std::vector<float> forecast = {0.1F, 0.1F}, widening = {1.3F, 1}, stddev = {1, 1};
  const std::vector<float> q = calibrated_quantiles(calibration, forecast, {}, stddev, {}, widening);
  EXPECT_EQ(q, (std::vector<float>{0.1F - 1.3F, 0.1F, 0.1F, 0.1F, 0.1F + 2.6F,  // bounds of width 0 are exact
                                   0.1F - 1, 0.1F, 0.1F, 0.1F, 0.1F + 2}));
  EXPECT_EQ(error_of(ErrorKind::internal,
                     [&] {
                       calibrated_quantiles(calibration, forecast, {}, stddev, {}, {widening.data(), 1});
                     }),
            "calibrated_quantiles: 2 windows with 1 factors of their margins");
}

TEST(Conformal, TakesNoSeasonWithoutOneOrWithFewRows) {
  const auto even = [](int64_t) { return 1.0; };
  const Calibration calibration = calibrate(seasonal_sample(2400, 1, even), {});
  ASSERT_TRUE(calibration.season_trial);
  EXPECT_GT(calibration.season_trial->with, 0.99 * calibration.season_trial->without);
  EXPECT_TRUE(calibration.spread.empty());
  EXPECT_FALSE(calibrate(seasonal_sample(69, 1, even), {}).season_trial);  // 71 rows
  EXPECT_TRUE(calibrate(seasonal_sample(70, 1, even), {}).season_trial);   // 72 rows
}

TEST(Conformal, WritesTheSpreadOfASeason) {
  const std::filesystem::path path = testing::TempDir() + "calibration_season.npz";
  CalibrationConfig config;
  config.season = 24;
  const Calibration written = calibrate(seasonal_sample(200, 1, [](int64_t) { return 1.0; }), config);
  ASSERT_EQ(written.spread.size(), 48u);
  write_calibration(path, written);
  const Calibration read = read_calibration(path);
  EXPECT_EQ(read.spread, written.spread);
  EXPECT_EQ(read.season, 24);
}

/// More errors than trials read: margins are of all of them, and the season that only the phases show is
/// found.
TEST(Conformal, TriesFewerWindowsThanItTakesMarginsFrom) {
  constexpr int64_t windows = 400'000;
  const auto quiet_then_loud = [](int64_t window, int64_t) { return window < windows / 2 ? 1.0 : 1.5; };
  CalibrationSample sample = sample_of(windows, 7, quiet_then_loud);
  CalibrationConfig config;
  config.scale = "none";
  config.sides = "shared";
  const Calibration calibration = calibrate(sample, config);
  for (int64_t s = 0; s < series; ++s)
    for (int64_t step = 0; step < horizon; ++step) {
      std::vector<float> sizes;
      for (int64_t window = 0; window < windows; ++window)
        sizes.push_back(std::abs(sample.above[sample.at(0, s, step, window)]));
      std::sort(sizes.begin(), sizes.end());
      const auto cell = static_cast<size_t>(s * horizon + step);
      EXPECT_EQ(calibration.lower[cell], sizes[static_cast<size_t>(std::ceil((windows + 1) * 0.8)) - 1]);
    }
  sample = seasonal_sample(windows, 8, [](int64_t row) { return row % 24 < 12 ? 0.2 : 2.0; });
  EXPECT_EQ(calibrate(sample, {}).season, 24);
}

TEST(WindowStd, IsOverObservedValuesAndNeverZero) {
  const float past[] = {1, 3, 1000};
  const bool observed[] = {true, true, false};
  EXPECT_DOUBLE_EQ(window_stddev(past, observed), std::sqrt(1 + 0.03 * 0.03));
  const float constant[] = {5, 5, 5};
  EXPECT_DOUBLE_EQ(window_stddev(constant, {}), 0.03);
}

}  // namespace
}  // namespace modewise::metrics
