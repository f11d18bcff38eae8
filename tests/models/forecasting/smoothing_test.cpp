// Exponential smoothing against statsmodels (vectors/make_local_vectors.py).

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/box_minimum.h"
#include "modewise/models/forecasting/smoothing_fit.h"
#include "tests/models/read_vectors.h"

namespace modewise::models {
namespace {

SmoothingStates start_of(const nlohmann::json& one) {
  return {one["level"], one["trend"], numbers(one["season"]), 0};
}

SmoothingParameters parameters_of(const nlohmann::json& one) {
  return {one["alpha"], one["beta"], one["gamma"], one["phi"]};
}

TEST(Smoothing, EveryFormIsThatOfStatsmodels) {
  int forms = 0;
  for (const auto& one : read_vectors("smoothing.json")) {
    SCOPED_TRACE(one["form"].get<std::string>());
    const SmoothingForm form = smoothing_form(one["form"], "model");
    const SmoothingParameters parameters = parameters_of(one);
    const std::vector<double> y = numbers(one["y"]), wanted = numbers(one["forecast"]);
    SmoothingStates states = start_of(one);
    std::vector<double> fitted(y.size());
    smooth(form, parameters, y, states, fitted);
    expect_near(fitted, numbers(one["fitted"]), 1e-12, "fitted");
    EXPECT_NEAR(log_likelihood(form, y, fitted), one["likelihood"].get<double>(), 1e-10);
    EXPECT_NEAR(states.level, one["last_level"].get<double>(), 1e-10);
    EXPECT_NEAR(states.trend, one["last_trend"].get<double>(), 1e-12);
    std::vector<double> season;  // oldest first
    for (size_t i = 0; i < states.season.size(); ++i)
      season.push_back(states.season[(states.next + i) % states.season.size()]);
    expect_near(season, numbers(one["last_season"]), 1e-12, "season");
    const double variance = error_variance(form, y, fitted);
    const StepForecast ahead = forecast_smoothing(form, parameters, states, variance, std::ssize(wanted));
    expect_near(ahead.mean, wanted, 1e-12, "forecast");
    if (form.multiplies()) {
      EXPECT_TRUE(ahead.stddev.empty());
    } else {
      std::vector<double> variances;
      for (const double stddev : ahead.stddev) variances.push_back(stddev * stddev);
      expect_near(variances, numbers(one["variance"]), 1e-12, "variance");
    }
    ++forms;
  }
  EXPECT_EQ(forms, 30);
}

TEST(Smoothing, FirstStatesAreThoseOfTheBook) {
  for (const auto& one : read_vectors("smoothing.json")) {
    SCOPED_TRACE(one["form"].get<std::string>());
    const std::vector<double> y = numbers(one["y"]);
    const SmoothingStates states = first_states(smoothing_form(one["form"], "model"), y, one["period"]);
    EXPECT_NEAR(states.level, one["first"]["level"].get<double>(), 1e-11);
    EXPECT_NEAR(states.trend, one["first"]["trend"].get<double>(), 1e-12);
    expect_near(states.season, numbers(one["first"]["season"]), 1e-12, "season");
  }
}

TEST(Smoothing, FirstStatesOfFewRowsAreALineThroughThem) {
  const std::vector<double> rows = {3, 5, 7};
  const SmoothingStates line = first_states({'A', 'A', 'N', false}, rows, 1);
  EXPECT_DOUBLE_EQ(line.level, 1);
  EXPECT_DOUBLE_EQ(line.trend, 2);
  EXPECT_DOUBLE_EQ(first_states({}, std::vector<double>{4}, 1).level, 4);
}

TEST(Smoothing, GradientIsThatOfTheLikelihood) {
  for (const auto& one : read_vectors("smoothing.json")) {
    SCOPED_TRACE(one["form"].get<std::string>());
    const SmoothingForm form = smoothing_form(one["form"], "model");
    const std::vector<double> y = numbers(one["y"]);
    std::vector<double> x = {0.35, 0.3, 0.25, 0.9, one["level"], one["trend"]};
    for (const double season : numbers(one["season"])) x.push_back(season);
    std::vector<double> gradient(x.size()), unused(x.size());
    const double value = smoothing_loss(form, y, x, gradient);
    // The loss is the negative log-likelihood up to a constant of the rows.
    SmoothingStates states{x[4], x[5], {x.begin() + 6, x.end()}, 0};
    std::vector<double> fitted(y.size());
    smooth(
        form,
        {0.35, form.has_trend() ? 0.35 * 0.3 : 0, form.has_season() ? 0.65 * 0.25 : 0, form.damped ? 0.9 : 1},
        y, states, fitted);
    const auto n = static_cast<double>(y.size());
    EXPECT_NEAR(value, -log_likelihood(form, y, fitted) - n / 2 * (std::log(2 * std::acos(-1.0) / n) + 1),
                1e-11);
    double largest = 0;
    for (const double slope : gradient) largest = std::max(largest, std::abs(slope));
    for (size_t i = 0; i < x.size(); ++i) {
      std::vector<double> up = x, down = x;
      const double step = 1e-6 * std::max(1.0, std::abs(x[i]));
      up[i] += step, down[i] -= step;
      const double slope =
          (smoothing_loss(form, y, up, unused) - smoothing_loss(form, y, down, unused)) / (2 * step);
      EXPECT_NEAR(gradient[i], slope, 1e-7 * largest) << i;
    }
  }
}

TEST(Smoothing, FittedLikelihoodIsNoWorseThanStatsmodels) {
  int fits = 0;
  for (const auto& one : read_vectors("smoothing_fits.json")) {
    SCOPED_TRACE(one["form"].get<std::string>());
    const std::vector<double> y = numbers(one["y"]);
    const SmoothingForm form = smoothing_form(one["form"], "model");
    const SmoothingFit fit = fit_smoothing(form, y, one["period"]);
    EXPECT_GE(fit.likelihood, one["likelihood"].get<double>() - 1e-3);
    // Its reported likelihood and variance are consistent with its forecasts.
    SmoothingStates states = fit.start;
    std::vector<double> fitted(y.size());
    smooth(form, fit.parameters, y, states, fitted);
    EXPECT_DOUBLE_EQ(log_likelihood(form, y, fitted), fit.likelihood);
    EXPECT_NEAR(error_variance(form, y, fitted), fit.variance, 1e-12 * fit.variance);
    double season = 0;
    for (const double factor : fit.start.season) season += factor;
    const double mean = form.season == 'M' ? std::ssize(fit.start.season) : 0;
    EXPECT_NEAR(season, mean, 1e-12 * std::abs(fit.start.level));
    const SmoothingParameters& p = fit.parameters;
    EXPECT_GE(p.alpha, 1e-4);
    EXPECT_LE(p.beta, p.alpha);
    EXPECT_LE(p.gamma, 1 - p.alpha);
    if (form.damped) {
      EXPECT_GE(p.phi, 0.8);
      EXPECT_LE(p.phi, 0.98);
    }
    ++fits;
  }
  EXPECT_EQ(fits, 50);
}

TEST(Smoothing, FirstStatesForGivenParametersAreTheMostLikely) {
  for (const auto& one : read_vectors("smoothing.json")) {
    SCOPED_TRACE(one["form"].get<std::string>());
    const SmoothingForm form = smoothing_form(one["form"], "model");
    // With a multiplicative trend the search may end where forecasts stop being positive.
    if (form.trend == 'M') continue;
    const std::vector<double> y = numbers(one["y"]);
    const SmoothingParameters p = parameters_of(one);
    const SmoothingStates states = fit_states(form, p, y, one["period"]);
    std::vector<double> x = {p.alpha, p.beta / p.alpha, p.gamma / (1 - p.alpha),
                             p.phi,   states.level,     states.trend};
    x.insert(x.end(), states.season.begin(), states.season.end());
    std::vector<double> gradient(x.size());
    smoothing_loss(form, y, x, gradient);
    // The numerical derivative in each state, with a step of a thousandth of its effect on a forecast of
    // about 50.
    EXPECT_LT(std::abs(gradient[4]) * 0.05, 1e-5);
    EXPECT_LT(std::abs(gradient[5]) * 0.05, 1e-5);
    for (size_t i = 6; i < x.size(); ++i)
      EXPECT_LT(std::abs(gradient[i]) * (form.season == 'M' ? 0.001 : 0.05), 1e-5);
  }
  // Simple exponential smoothing is a least-squares problem: y_t − p_{t−1} = (1−α)^{t−1} ℓ.
  const std::vector<double> y = {3, 5, 4, 8};
  double left = 0, right = 0, level = 0, decay = 1;
  for (const double value : y) {
    left += decay * decay, right += decay * (value - level);
    level += 0.3 * (value - level), decay *= 0.7;
  }
  EXPECT_NEAR(fit_states({}, {0.3, 0, 0, 1}, y, 1).level, right / left, 1e-8);
}

TEST(Smoothing, CriterionCountsWhatIsFitted) {
  SmoothingFit fit{{'A', 'A', 'A', true}, {}, {}, -100, 1, 60};
  fit.start.season.resize(4);
  // α, β, γ, φ, ℓ, b, 3 of the season, σ²: 10.
  EXPECT_DOUBLE_EQ(fit.aicc(), 200 + 2.0 * 10 * 60 / (60 - 10 - 1));
  SmoothingFit level{{}, {}, {}, -100, 1, 4};
  EXPECT_EQ(level.aicc(), std::numeric_limits<double>::infinity());  // α, ℓ, σ²: 3, and 4 rows
  level.rows = 5;
  EXPECT_DOUBLE_EQ(level.aicc(), 200 + 2.0 * 3 * 5 / (5 - 3 - 1));
}

TEST(Smoothing, FormsThatAreTried) {
  const auto names = [](const std::vector<double>& rows, int64_t period, int64_t lookback) {
    std::string all;
    for (const SmoothingForm& form : forms_to_try(rows, period, lookback)) all += form.name() + " ";
    return all;
  };
  std::vector<double> rows(40, 1.0);
  EXPECT_EQ(names(rows, 4, 40), "ANN ANA AAN AAA AAdN AAdA MNN MNA MNM MAN MAA MAM MAdN MAdA MAdM ");
  EXPECT_EQ(names(rows, 1, 40), "ANN AAN AAdN MNN MAN MAdN ");
  EXPECT_EQ(names(rows, 4, 13), "ANN AAN AAdN MNN MAN MAdN ");  // the minimum is 14
  EXPECT_EQ(names(rows, 4, 14), names(rows, 4, 40));
  rows[7] = 0;
  EXPECT_EQ(names(rows, 20, 40), "ANN ANA AAN AAA AAdN AAdA ");
  EXPECT_EQ(names(rows, 21, 99), "ANN AAN AAdN ");
  const std::vector<double> many(800, -1.0);
  EXPECT_EQ(names(many, 366, 800), "ANN ANA AAN AAA AAdN AAdA ");
  EXPECT_EQ(names(many, 367, 800), "ANN AAN AAdN ");
}

TEST(Smoothing, ChoosesTheFormThatMadeTheRows) {
  std::vector<double> season, flat;
  for (int t = 0; t < 60; ++t) {
    const double noise = std::sin(t * t * 0.7) + std::sin(t * 1.9);
    flat.push_back(20 + noise);
    season.push_back((40 + t) * (t % 4 == 0 ? 1.5 : t % 4 == 1 ? 0.6 : 0.95) * (1 + 0.01 * noise));
  }
  EXPECT_EQ(choose_smoothing(forms_to_try(season, 4, 60), season, 4).form.name(), "MAM");
  const SmoothingForm level = choose_smoothing(forms_to_try(flat, 4, 60), flat, 4).form;
  EXPECT_FALSE(level.has_trend());
  EXPECT_FALSE(level.has_season());
}

TEST(Smoothing, SimulatedFuturesHaveTheFormulasStd) {
  const SmoothingForm form{'A', 'A', 'A', true};
  const SmoothingParameters parameters{0.4, 0.1, 0.2, 0.9};
  const SmoothingStates states{10, 0.5, {1, -1, 0}, 0};
  constexpr int64_t kSteps = 5;
  // One path per unit vector of errors: the future of a linear form is the sum of their effects.
  std::vector<double> noise(kSteps * (kSteps + 1));
  for (size_t i = 0; i < kSteps; ++i) noise[(i + 1) * kSteps + i] = 1;
  const std::vector<double> futures = simulate_smoothing(form, parameters, states, 4, kSteps, noise);
  const StepForecast formula = forecast_smoothing(form, parameters, states, 4, kSteps);
  for (size_t h = 0; h < kSteps; ++h) {
    EXPECT_DOUBLE_EQ(futures[h], formula.mean[h]);
    double squares = 0;
    for (size_t i = 0; i < kSteps; ++i) squares += std::pow(futures[(i + 1) * kSteps + h] - futures[h], 2);
    EXPECT_NEAR(std::sqrt(squares), formula.stddev[h], 1e-12);
  }
  // A multiplicative error is relative to the forecast.
  const std::vector<double> times = simulate_smoothing({'M', 'N', 'N', false}, {0.5, 0, 0, 1}, {8, 0, {}, 0},
                                                       0.01, 2, std::vector<double>{1, -2});
  EXPECT_DOUBLE_EQ(times[0], 8.8);
  EXPECT_DOUBLE_EQ(times[1], 8.4 * 0.8);
}

TEST(Smoothing, AnyOtherNameOfAFormIsAnError) {
  for (const char* name : {"", "ANNN", "XNN", "AdN", "ANdN", "aan", "AAA ", "NNN"}) {
    try {
      smoothing_form(name, "run.toml");
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::config);
      EXPECT_EQ(std::string(error.what()),
                "run.toml: ets.form = \"" + std::string(name) +
                    "\" is not a form of exponential smoothing: auto, or error A or M, trend N, A, Ad, M or "
                    "Md and season N, A or M, such as AAdA");
    }
  }
}

TEST(BoxMinimum, StopsAtBoundsAndValleys) {
  // (x − 3)² + 10 (y + x)² with x ≤ 1: at the bound x = 1, y = −1.
  const SmoothFunction bowl = [](std::span<const double> x, std::span<double> g) {
    g[0] = 2 * (x[0] - 3) + 20 * (x[0] + x[1]);
    g[1] = 20 * (x[0] + x[1]);
    return (x[0] - 3) * (x[0] - 3) + 10 * (x[0] + x[1]) * (x[0] + x[1]);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const BoxMinimum bound = minimum_in_box(bowl, {0, 5}, std::vector<double>{-infinity, -infinity},
                                          std::vector<double>{1, infinity}, 1e-9, 500);
  EXPECT_EQ(bound.x[0], 1);
  EXPECT_DOUBLE_EQ(bound.x[1], -1);
  EXPECT_DOUBLE_EQ(bound.value, 4);
  // Rosenbrock function with its minimum at (1, 1); undefined left of −1.5.
  const SmoothFunction valley = [&](std::span<const double> x, std::span<double> g) {
    if (x[0] < -1.5) return infinity;
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];
    g[0] = -2 * a - 400 * x[0] * b;
    g[1] = 200 * b;
    return a * a + 100 * b * b;
  };
  const std::vector<double> low(2, -infinity), high(2, infinity);
  const BoxMinimum floor = minimum_in_box(valley, {-1.2, 1}, low, high, 1e-9, 500);
  EXPECT_NEAR(floor.x[0], 1, 1e-8);
  EXPECT_NEAR(floor.x[1], 1, 1e-8);
  EXPECT_LT(floor.evaluations, 200);
  EXPECT_LE(minimum_in_box(valley, {-1.2, 1}, low, high, 1e-9, 7).evaluations, 7);
}

}  // namespace
}  // namespace modewise::models
