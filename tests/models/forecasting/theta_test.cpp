// Theta method and its seasonal adjustment against statsmodels and statsforecast
// (vectors/make_local_vectors.py).

#include "modewise/models/forecasting/theta.h"

#include <gtest/gtest.h>

#include <cmath>

#include "modewise/models/forecasting/seasonal_adjustment.h"
#include "modewise/models/minimum_on_interval.h"
#include "tests/models/read_vectors.h"

namespace modewise::models {
namespace {

TEST(MinimumOnInterval, FindsTheLowestValleyAndBounds) {
  EXPECT_NEAR(minimum_on_interval(-1, 3, [](double x) { return (x - 0.7) * (x - 0.7); }), 0.7, 1e-7);
  EXPECT_EQ(minimum_on_interval(2, 5, [](double x) { return x; }), 2);
  EXPECT_EQ(minimum_on_interval(2, 5, [](double x) { return -x; }), 5);
  // Valleys at 1 (depth 1) and at 4 (depth 2).
  const auto two = [](double x) { return std::min((x - 1) * (x - 1) - 1, (x - 4) * (x - 4) - 2); };
  EXPECT_NEAR(minimum_on_interval(0, 5, two), 4, 1e-7);
}

TEST(Season, IsThatOfClassicalDecomposition) {
  for (const auto& one : read_vectors("theta.json"))
    for (const bool multiplicative : {false, true}) {
      const std::vector<double> y = numbers(one["y"]);
      const Season season = classical_season(y, one["period"], multiplicative);
      expect_near(season.factors, numbers(one["standard"][multiplicative ? "mul" : "add"]["season"]), 1e-12,
                  multiplicative ? "multiplied" : "added");
      for (int64_t row : {0, 5, 33}) EXPECT_DOUBLE_EQ(season.put_back(season.take_off(17.5, row), row), 17.5);
    }
}

TEST(Season, IsTestedByItsAutocorrelation) {
  int seasonal = 0;
  for (const auto& one : read_vectors("theta.json")) {
    EXPECT_EQ(is_seasonal(numbers(one["y"]), one["period"]), one["seasonal"].get<bool>());
    seasonal += one["seasonal"].get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(seasonal, 2);
  std::vector<double> wave;
  for (int t = 0; t < 48; ++t) wave.push_back(std::sin(t * 3.14159 / 6));
  EXPECT_TRUE(is_seasonal(wave, 12));
  EXPECT_TRUE(is_seasonal(std::span(wave).first(24), 6));       // alternating hills and valleys
  EXPECT_FALSE(is_seasonal(std::span(wave).first(24), 13));     // fewer than two periods
  EXPECT_FALSE(is_seasonal(wave, 1));                           // a period of one row has no season
  EXPECT_FALSE(is_seasonal(std::vector<double>(24, 3.0), 12));  // constant
}

TEST(Season, IsMultipliedWhereAllIsPositive) {
  std::vector<double> wave;
  for (int t = 0; t < 36; ++t) wave.push_back(10 + 3 * std::sin(t * 3.14159 / 6));
  EXPECT_TRUE(season_of_history(wave, 12).multiplicative);
  for (double& value : wave) value -= 10;
  const Season season = season_of_history(wave, 12);
  EXPECT_FALSE(season.multiplicative);
  EXPECT_NEAR(season.factors[3], 3, 1e-3);
  EXPECT_EQ(season.take_off(5, 15), 5 - season.factors[3]);
  for (const int64_t period : {1, 19}) {
    const Season none = season_of_history(wave, period);
    EXPECT_TRUE(none.factors.empty());
    EXPECT_EQ(none.put_back(5, 7), 5);
  }
}

TEST(Theta, StandardFormIsThatOfStatsmodels) {
  for (const auto& one : read_vectors("theta.json"))
    for (const bool multiplicative : {false, true}) {
      const std::vector<double> y = numbers(one["y"]);
      const auto& standard = one["standard"][multiplicative ? "mul" : "add"];
      const std::vector<double> wanted = numbers(standard["forecast"]);
      const Season season = classical_season(y, one["period"], multiplicative);
      std::vector<double> adjusted(y);
      for (size_t t = 0; t < y.size(); ++t) adjusted[t] = season.take_off(y[t], static_cast<int64_t>(t));
      const auto horizon = std::ssize(wanted);
      const double alpha = standard["alpha"];
      const Theta given = theta_with(ThetaForm::standard, adjusted, alpha);
      std::vector<double> mean = forecast_theta(given, adjusted, horizon).mean;
      for (int64_t h = 0; h < horizon; ++h)
        mean[static_cast<size_t>(h)] = season.put_back(mean[static_cast<size_t>(h)], std::ssize(y) + h);
      expect_near(mean, wanted, 1e-10, "forecast");
      // The α of statsmodels' optimizer is near the optimum, which ours attains.
      const Theta fitted = fit_theta(ThetaForm::standard, adjusted);
      EXPECT_LE(fitted.squares, given.squares);
      EXPECT_NEAR(fitted.alpha, alpha, 1e-3);
    }
}

TEST(Theta, OptimisedFormsAreThoseOfStatsforecast) {
  for (const auto& one : read_vectors("theta.json"))
    for (const auto& form : one["forms"]) {
      const std::vector<double> y = numbers(one["y"]);
      const ThetaForm kind = form["dynamic"].get<bool>() ? ThetaForm::dynamic : ThetaForm::optimised;
      const Theta given = theta_with(kind, y, form["alpha"]);
      EXPECT_NEAR(given.level, form["level"].get<double>(), 1e-11);
      EXPECT_DOUBLE_EQ(given.weight, form["weight"].get<double>());
      EXPECT_NEAR(given.squares / form["squares"].get<double>(), 1, 1e-10);
      const Theta exact{kind, form["alpha"], form["level"], form["weight"], form["squares"]};
      expect_near(forecast_theta(exact, y, 9).mean, numbers(form["forecast"]), 1e-10, "forecast");
      const Theta fitted = fit_theta(kind, y);
      EXPECT_LE(fitted.squares, given.squares);
      EXPECT_GE(fitted.alpha, 0.1);
      EXPECT_LE(fitted.alpha, 0.99);
    }
}

TEST(Theta, ForecastsAsStatsforecastWithItsParameters) {
  const auto vectors = read_vectors("theta_statsforecast.json");
  int series = 0, seasonal = 0;
  for (const auto& one : vectors["series"]) {
    const std::vector<double> y = numbers(one["y"]);
    ++series, seasonal += one["seasonal"].get<bool>() ? 1 : 0;
    ASSERT_EQ(is_seasonal(y, one["period"]), one["seasonal"].get<bool>()) << series;
    const Season season = one["seasonal"].get<bool>() ? season_of_history(y, one["period"]) : Season();
    EXPECT_EQ(season.multiplicative, one["multiplicative"].get<bool>()) << series;
    std::vector<double> adjusted(y);
    for (size_t t = 0; t < y.size(); ++t) adjusted[t] = season.take_off(y[t], static_cast<int64_t>(t));
    for (const auto& form : one["forms"]) {
      const ThetaForm kind = form["form"] == "DOTM" ? ThetaForm::dynamic : ThetaForm::optimised;
      const std::vector<double> wanted = numbers(form["forecast"]);
      const Theta theta{kind, form["alpha"], form["level"], form["weight"], 0};
      std::vector<double> mean = forecast_theta(theta, adjusted, std::ssize(wanted)).mean;
      for (size_t step = 0; step < mean.size(); ++step)
        mean[step] = season.put_back(mean[step], static_cast<int64_t>(y.size() + step));
      expect_near(mean, wanted, 1e-6, form["form"].get<std::string>());
      // Its Nelder-Mead search stops early: least squares for the same α are at most as large.
      const double fitted = fit_theta(kind, adjusted).squares;
      EXPECT_LE(fitted, theta_with(kind, adjusted, form["alpha"]).squares * (1 + 1e-9));
    }
  }
  EXPECT_EQ(series, 24);
  EXPECT_GE(seasonal, 12);
}

TEST(Theta, StdGrowsAsThatOfSmoothing) {
  const Theta theta{ThetaForm::standard, 0.4, 2, 0.5, 18};
  const std::vector<double> history(9, 2.0);
  const StepForecast steps = forecast_theta(theta, history, 3);
  expect_near(steps.stddev, {std::sqrt(2.0), std::sqrt(2 * 1.16), std::sqrt(2 * 1.32)}, 1e-14, "deviation");
}

TEST(Theta, AFlatHistoryStaysFlat) {
  const std::vector<double> history(7, 5.0);
  for (const ThetaForm form : {ThetaForm::standard, ThetaForm::optimised, ThetaForm::dynamic})
    expect_near(forecast_theta(fit_theta(form, history), history, 3).mean, {5, 5, 5}, 1e-9, "forecast");
  const std::vector<double> single = {3};
  for (const ThetaForm form : {ThetaForm::standard, ThetaForm::optimised, ThetaForm::dynamic})
    for (const double value : forecast_theta(fit_theta(form, single), single, 2).mean)
      EXPECT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace modewise::models
