// Season detection without dates: waves of known length, and series without a season.

#include "modewise/data/forecasting/season.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sin.h>
#include <gtest/gtest.h>

#include <numbers>

namespace modewise::data {
namespace {

Series series_of(const at::Tensor& values) {
  Series series;
  series.values = values.to(at::kDouble);
  return series;
}

at::Tensor wave(int64_t rows, double period) {
  return at::sin(at::arange(rows, at::kDouble) * (2 * std::numbers::pi / period)).unsqueeze(-1);
}

TEST(SeasonByCourse, FindsTheLengthOfAWave) {
  for (const int64_t period : {4, 7, 24, 144})
    EXPECT_EQ(season_by_course(series_of(wave(10 * period, static_cast<double>(period))), {0, 10 * period}),
              period);
}

TEST(SeasonByCourse, IsThatOfTheRowsItIsAskedFor) {
  const Series series = series_of(at::cat({wave(400, 12), wave(400, 20)}));
  EXPECT_EQ(season_by_course(series, {0, 400}), 12);
  EXPECT_EQ(season_by_course(series, {400, 800}), 20);
  // Long series: only the last 5,000 rows are used.
  EXPECT_EQ(season_by_course(series_of(at::cat({wave(4000, 12), wave(5000, 20)})), {0, 9000}), 20);
}

TEST(SeasonByCourse, SeesThroughTrendNoiseAndSlowerSeasons) {
  at::manual_seed(3);
  const at::Tensor trend = at::arange(1000, at::kDouble).unsqueeze(-1) / 50,
                   noise = at::randn({1000, 4}, at::kDouble) / 2;
  EXPECT_EQ(season_by_course(series_of(wave(1000, 24) + wave(1000, 168) / 2 + trend + noise), {0, 1000}), 24);
}

TEST(SeasonByCourse, TakesTheRowBeforeForAMissingOne) {
  Series series = series_of(wave(240, 24));
  series.observed = at::ones({240, 1}, at::kBool);
  series.observed.narrow(0, 50, 3).fill_(false);
  series.values.narrow(0, 50, 3).fill_(1e9);
  EXPECT_EQ(season_by_course(series, {0, 240}), 24);
}

TEST(SeasonByCourse, IsOneWhereNoneShows) {
  at::manual_seed(5);
  const at::Tensor noise = at::randn({600, 8}, at::kDouble);
  EXPECT_EQ(season_by_course(series_of(noise), {0, 600}), 1);
  EXPECT_EQ(season_by_course(series_of(at::cumsum(noise, 0)), {0, 600}), 1);
  EXPECT_EQ(season_by_course(series_of(at::ones({600, 2})), {0, 600}), 1);
  for (const int64_t rows : {0, 1, 7})
    EXPECT_EQ(season_by_course(series_of(wave(600, 4)), {0, rows}), 1) << rows;
  // Three seasons are too few.
  EXPECT_EQ(season_by_course(series_of(wave(90, 30)), {0, 90}), 1);
}

TEST(SeasonByCourse, OfACoursesSecondHalfByItsFirst) {
  // Centred seasons of 2 rows: (1, -1) twice, then (2, -2) and (1, -1): variance 2 (4 + 1), residual 2 · 1.
  // Their R² of .8 is the only one: seasons of 3 do not fit four times.
  const at::Tensor x = at::tensor({1.0, -1.0, 6.0, 4.0, 7.0, 3.0, 1.0, -1.0}, at::kDouble).unsqueeze(-1);
  EXPECT_EQ(season_by_course(series_of(x), {0, 8}), 1);  // .8 ≤ (2 + 4 √2) / 8 = .96
  EXPECT_EQ(season_by_course(series_of(at::cat({x, x})), {0, 16}), 2);
}

}  // namespace
}  // namespace modewise::data
