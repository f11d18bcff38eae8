#include "modewise/metrics/forecast_errors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "modewise/core/file.h"
#include "tests/error_of.h"

namespace modewise::metrics {
namespace {

using Scale = ForecastErrors::Scale;

struct Vectors {
  nlohmann::json json =
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/metrics/vectors/forecast_metrics.json"));
  std::vector<float> truth = json["truth"], forecast = json["forecast"], quantiles = json["quantiles"];
  std::unique_ptr<bool[]> observed = std::make_unique<bool[]>(truth.size());
  Vectors() {
    for (size_t i = 0; i < truth.size(); ++i) observed[i] = json["observed"][i].get<int>() != 0;
  }
  ForecastErrors empty() const {
    return {json["series"], json["horizon"], json["mean"], json["std"], json["levels"]};
  }
  std::span<const bool> mask() const { return {observed.get(), truth.size()}; }
};

void expect_equal(const PointErrors& errors, const nlohmann::json& expected) {
  EXPECT_NEAR(errors.mse, expected["mse"], 1e-12);
  EXPECT_DOUBLE_EQ(errors.mae, expected["mae"]);
  EXPECT_DOUBLE_EQ(errors.rmse, expected["rmse"]);
  EXPECT_NEAR(errors.smape, expected["smape"], 1e-11);
  EXPECT_EQ(errors.count, expected["count"]);
}

TEST(ForecastErrors, AgreeWithNumpyOnObservedTargets) {
  const Vectors v;
  ForecastErrors errors = v.empty();
  errors.add(v.forecast, v.truth, v.mask(), v.quantiles);
  const nlohmann::json& expected = v.json["expected"];
  EXPECT_EQ(errors.windows(), 5);
  expect_equal(errors.total(), expected["total"]);
  expect_equal(errors.total(Scale::units), expected["units"]);
  expect_equal(errors.total(Scale::standard, 2), expected["first_two"]);
  expect_equal(errors.of_series(2, Scale::units), expected["series_2"]);
  expect_equal(errors.of_step(3), expected["step_3"]);
  const QuantileErrors quantiles = errors.quantiles();
  for (size_t i = 0; i < quantiles.levels.size(); ++i)
    EXPECT_DOUBLE_EQ(quantiles.pinball[i], expected["pinball"][i]);
  EXPECT_DOUBLE_EQ(quantiles.crps, expected["crps"]);
  ASSERT_EQ(quantiles.intervals.size(), 2u);
  EXPECT_DOUBLE_EQ(quantiles.intervals[0].nominal, 0.8);
  EXPECT_DOUBLE_EQ(quantiles.intervals[1].nominal, 0.95);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_DOUBLE_EQ(quantiles.intervals[i].coverage, expected["coverage"][i]);
    EXPECT_DOUBLE_EQ(quantiles.intervals[i].width, expected["width"][i]);
  }
}

TEST(ForecastErrors, DoNotDependOnHowWindowsAreBatched) {
  const Vectors v;
  ForecastErrors whole = v.empty(), parts = v.empty();
  whole.add(v.forecast, v.truth, v.mask(), v.quantiles);
  const size_t cells = 12, levels = 5;
  for (const auto& [begin, count] : {std::pair<size_t, size_t>(0, 3), {3, 1}, {4, 1}})
    parts.add(std::span(v.forecast).subspan(begin * cells, count * cells),
              std::span(v.truth).subspan(begin * cells, count * cells),
              v.mask().subspan(begin * cells, count * cells),
              std::span(v.quantiles).subspan(begin * cells * levels, count * cells * levels));
  EXPECT_EQ(to_json(whole.total()).dump(), to_json(parts.total()).dump());
  EXPECT_EQ(to_json(whole.quantiles(Scale::units)).dump(), to_json(parts.quantiles(Scale::units)).dump());
}

TEST(ForecastErrors, NeverReadWhatStandsUnderAMissingTarget) {
  Vectors v;
  ForecastErrors clean = v.empty(), dirty = v.empty();
  clean.add(v.forecast, v.truth, v.mask(), v.quantiles);
  for (size_t i = 0; i < v.truth.size(); ++i)
    if (!v.observed[i]) v.truth[i] = std::nanf("");
  dirty.add(v.forecast, v.truth, v.mask(), v.quantiles);
  EXPECT_EQ(to_json(clean.total()).dump(), to_json(dirty.total()).dump());
}

TEST(ForecastErrors, ComeBackFromTheirSums) {
  const Vectors v;
  ForecastErrors errors = v.empty(), copy = v.empty();
  errors.add(v.forecast, v.truth, v.mask(), v.quantiles);
  std::vector<double> sums = errors.sums();
  copy.set_sums(sums);
  EXPECT_EQ(to_json(errors.total()).dump(), to_json(copy.total()).dump());
  EXPECT_EQ(to_json(errors.quantiles(Scale::units)).dump(), to_json(copy.quantiles(Scale::units)).dump());
  const size_t count = sums.size();
  sums.pop_back();
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { copy.set_sums(sums); }),
            fmt::format("ForecastErrors: {} sums, got {}", count, count - 1));
}

TEST(ForecastErrors, OfNothingAreNullInJson) {
  ForecastErrors errors(1, 2, {0}, {1});
  const float values[] = {1, 2};
  const bool none[] = {false, false};
  errors.add(values, values, none);
  EXPECT_EQ(errors.total().count, 0);
  EXPECT_TRUE(to_json(errors.total())["mse"].is_null());
}

}  // namespace
}  // namespace modewise::metrics
