#include "modewise/data/forecasting/simulate.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

#include "modewise/core/random.h"
#include "modewise/data/forecasting/load_series.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

bool same_bits(const Series& a, const Series& b) {
  return a.values.nbytes() == b.values.nbytes() &&
         std::memcmp(a.values.const_data_ptr<double>(), b.values.const_data_ptr<double>(),
                     a.values.nbytes()) == 0;
}

TEST(Lorenz96, ShapeModesAndSeed) {
  Lorenz96Config config;
  const Series a = simulate_lorenz96(config, 20, 1);
  EXPECT_THAT(a.values.sizes().vec(), ElementsAre(20, 8, 2));
  EXPECT_EQ(a.modes[0].name, "site");
  EXPECT_THAT(a.modes[1].labels, ElementsAre("slow", "fast_mean"));
  EXPECT_EQ(a.source, "lorenz96 (simulated)");
  EXPECT_TRUE(same_bits(a, simulate_lorenz96(config, 20, 1)));
  EXPECT_FALSE(same_bits(a, simulate_lorenz96(config, 20, 2)));
  const Series longer = simulate_lorenz96(config, 30, 1);
  EXPECT_EQ(std::memcmp(longer.values.const_data_ptr<double>(), a.values.const_data_ptr<double>(),
                        a.values.nbytes()),
            0)
      << "more rows only add to the end";
  config.variables = "all";
  const Series all = simulate_lorenz96(config, 20, 1);
  EXPECT_THAT(all.values.sizes().vec(), ElementsAre(20, 8, 5));
  EXPECT_EQ(value_at(all, 0), value_at(a, 0));
  EXPECT_DOUBLE_EQ((value_at(all, 1) + value_at(all, 2) + value_at(all, 3) + value_at(all, 4)) / 4,
                   value_at(a, 1));
}

/// Lorenz 1996, eqs. 2 and 3, index by index; state [K, 1 + J].
std::vector<double> lorenz_derivative(const std::vector<double>& state, int K, int J,
                                      const Lorenz96Config& c) {
  const auto X = [&](int k) { return state[static_cast<size_t>(((k % K + K) % K) * (J + 1))]; };
  const auto Y = [&](int j, int k) {
    const int m = ((k * J + j) % (K * J) + K * J) % (K * J);
    return state[static_cast<size_t>((m / J) * (J + 1) + 1 + m % J)];
  };
  const double exchange = c.coupling * c.time_ratio / c.amplitude_ratio;
  std::vector<double> d(state.size());
  for (int k = 0; k < K; ++k) {
    double sum = 0;
    for (int j = 0; j < J; ++j) sum += Y(j, k);
    d[static_cast<size_t>(k * (J + 1))] =
        X(k - 1) * (X(k + 1) - X(k - 2)) - X(k) + c.forcing - exchange * sum;
    for (int j = 0; j < J; ++j)
      d[static_cast<size_t>(k * (J + 1) + 1 + j)] =
          -c.time_ratio * c.amplitude_ratio * Y(j + 1, k) * (Y(j + 2, k) - Y(j - 1, k)) -
          c.time_ratio * Y(j, k) + exchange * X(k);
  }
  return d;
}

TEST(Lorenz96, FollowsThePublishedEquations) {
  Lorenz96Config config;
  config.sites = 5;
  config.fast = 3;
  config.forcing = 9;
  config.coupling = 0.8;
  config.amplitude_ratio = 8;
  config.time_ratio = 9;
  config.sample_step = 0.01;
  config.substeps = 20;
  config.variables = "all";
  const Series s = simulate_lorenz96(config, 40, 3);
  const auto width = static_cast<size_t>(s.series_count());
  const double* rows = s.values.const_data_ptr<double>();
  for (const size_t row : {0, 17, 38}) {
    std::vector<double> state(rows + row * width, rows + (row + 1) * width);
    const int steps = 2000;  // explicit midpoint rule with a much smaller step than the simulation
    const double h = config.sample_step / steps;
    for (int i = 0; i < steps; ++i) {
      std::vector<double> middle = lorenz_derivative(state, 5, 3, config);
      for (size_t n = 0; n < width; ++n) middle[n] = state[n] + h / 2 * middle[n];
      const std::vector<double> slope = lorenz_derivative(middle, 5, 3, config);
      for (size_t n = 0; n < width; ++n) state[n] += h * slope[n];
    }
    for (size_t n = 0; n < width; ++n)
      EXPECT_NEAR(rows[(row + 1) * width + n], state[n], 2e-6) << row << " " << n;
  }
}

TEST(Lorenz96, DefaultsVaryAndStayBounded) {
  const Series s = simulate_lorenz96({}, 2000, 1);
  double low = 0, high = 0;
  for (int64_t row = 0; row < 2000; ++row) {
    low = std::min(low, value_at(s, row * 16));
    high = std::max(high, value_at(s, row * 16));
  }
  EXPECT_GT(high, 5);
  EXPECT_LT(high, 30);
  EXPECT_LT(low, -2);
}

TEST(Lorenz96, DivergenceIsAnErrorThatNamesTheRemedy) {
  Lorenz96Config config;
  config.sample_step = 1;
  config.substeps = 2;
  EXPECT_THAT(error_of(ErrorKind::config, [&] { simulate_lorenz96(config, 10, 1); }),
              HasSubstr("with steps of 0.5 (sample_step 1 / substeps 2); raise data.lorenz96.substeps"));
}

TEST(Lorenz96, NoiseIsRelativeToEachSeries) {
  Lorenz96Config config;
  const Series clean = simulate_lorenz96(config, 1000, 1);
  config.noise = 0.5;
  const Series noisy = simulate_lorenz96(config, 1000, 1);
  for (int64_t i : {0, 1}) {
    double noise = 0, mean = 0, variance = 0;
    for (int64_t row = 0; row < 1000; ++row) {
      noise += std::pow(value_at(noisy, row * 16 + i) - value_at(clean, row * 16 + i), 2) / 1000;
      mean += value_at(clean, row * 16 + i) / 1000;
    }
    for (int64_t row = 0; row < 1000; ++row)
      variance += std::pow(value_at(clean, row * 16 + i) - mean, 2) / 1000;
    EXPECT_NEAR(std::sqrt(noise / variance), 0.5, 0.04);
  }
}

TEST(Logistic, FollowsTheMapOfItsNeighbours) {
  LogisticConfig config;
  config.sites = 5;
  const Series s = simulate_logistic(config, 50, 4);
  const auto f = [&](double x) { return config.rate * x * (1 - x); };
  for (int64_t row = 0; row + 1 < 50; ++row)
    for (int64_t i = 0; i < 5; ++i) {
      const auto x = [&](int64_t k) { return value_at(s, row * 5 + (k + 5) % 5); };
      const double next = 0.7 * f(x(i)) + 0.15 * (f(x(i - 1)) + f(x(i + 1)));
      EXPECT_DOUBLE_EQ(value_at(s, (row + 1) * 5 + i), next);
    }
  EXPECT_TRUE(same_bits(s, simulate_logistic(config, 50, 4)));
  EXPECT_FALSE(same_bits(s, simulate_logistic(config, 50, 5)));
}

TEST(Seasonal, ThePerfectForecasterMeetsTheFloor) {
  SeasonalConfig config;
  config.variables = 3;
  config.trend = 1e-4;
  const int64_t rows = 40000, horizon = 12;
  const Series s = simulate_seasonal(config, rows, 9);
  const Scaler scaler = Scaler::fit(s, {0, rows});
  const std::vector<double> floor = seasonal_noise_floor(config, scaler, horizon);
  ASSERT_EQ(floor.size(), 12u);
  // The noise-free system is known; the remainder is forecast as φ^h times its last value.
  SeasonalConfig quiet = config;
  quiet.noise = 0;
  const Series known = simulate_seasonal(quiet, rows, 9);
  for (const int64_t h : {1, 2, 5, 12}) {
    double mse = 0;
    for (int64_t row = 0; row + h < rows; ++row)
      for (int64_t v = 0; v < 3; ++v) {
        const auto rest = [&](int64_t r) { return value_at(s, r * 3 + v) - value_at(known, r * 3 + v); };
        const double error = rest(row + h) - std::pow(config.memory, static_cast<double>(h)) * rest(row);
        mse += std::pow(error / scaler.stddev.const_data_ptr<double>()[v], 2) /
               (3.0 * static_cast<double>(rows - h));
      }
    EXPECT_NEAR(mse / floor[static_cast<size_t>(h - 1)], 1, 0.02) << h;
  }
}

TEST(Seasonal, RepeatsWithItsPeriodsWithoutNoise) {
  SeasonalConfig config;
  config.noise = 0;
  config.periods = {6, 4};
  config.amplitudes = {2, 1};
  config.trend = 0.25;
  const Series s = simulate_seasonal(config, 40, 1);
  for (int64_t row = 0; row + 12 < 40; ++row)
    EXPECT_NEAR(value_at(s, (row + 12) * 4) - value_at(s, row * 4), 3.0, 1e-12);
  config.amplitudes = {1};
  EXPECT_EQ(error_of(ErrorKind::config, [&] { simulate_seasonal(config, 40, 1); }),
            "data.seasonal: expected as many amplitudes as periods, got 1 and 2");
}

TEST(KnockOut, HidesTheShareAskedForAndTheSameCellsEachTime) {
  ForecastDataConfig config;
  config.simulate = "logistic";
  config.simulate_rows = 5001;
  config.knock_out = 0.2;
  const Series a = load_series(config), b = load_series(config);
  EXPECT_NEAR(static_cast<double>(a.missing_cells()) / (5001.0 * 8), 0.2, 0.01);
  EXPECT_EQ(
      std::memcmp(a.observed.const_data_ptr<bool>(), b.observed.const_data_ptr<bool>(), a.observed.nbytes()),
      0);
  for (int64_t i = 0; i < a.values.numel(); ++i)
    if (!seen_at(a, i)) {
      ASSERT_EQ(value_at(a, i), 0);
    }
  config.knock_out_seed = 2;
  const Series c = load_series(config);
  EXPECT_NE(
      std::memcmp(a.observed.const_data_ptr<bool>(), c.observed.const_data_ptr<bool>(), a.observed.nbytes()),
      0);
  EXPECT_THAT(a.notes, ElementsAre("20 % of the cells are masked at random"));
}

TEST(Lorenz96, StartsFromItsDrawsFourHundredRowsAhead) {
  Lorenz96Config config;
  config.sites = 5;
  config.fast = 3;
  config.sample_step = 0.002;
  config.substeps = 2;
  config.variables = "all";
  const Series s = simulate_lorenz96(config, 2, 3);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("site1", "site2", "site3", "site4", "site5"));
  EXPECT_THAT(s.modes[1].labels, ElementsAre("slow", "fast1", "fast2", "fast3"));
  EXPECT_EQ(s.modes[1].name, "variable");
  EXPECT_EQ(s.time.length, 2);
  const RandomStream random{3, RandomSite::simulation, 0};
  std::vector<double> state(20);  // [site, slow and fast]; the slow ones are drawn first
  for (size_t k = 0; k < 5; ++k) {
    state[k * 4] = random.normal(k) + (k == 0 ? config.forcing : 0);
    for (size_t j = 0; j < 3; ++j) state[k * 4 + 1 + j] = 0.1 * random.normal(5 + k * 3 + j);
  }
  const auto moved = [&](const std::vector<double>& slope, double h) {
    std::vector<double> out = state;
    for (size_t n = 0; n < 20; ++n) out[n] += h * slope[n];
    return lorenz_derivative(out, 5, 3, config);
  };
  for (int step = 0; step < 2 * 401; ++step) {
    const double h = 0.001;
    const std::vector<double> a = lorenz_derivative(state, 5, 3, config), b = moved(a, h / 2),
                              c = moved(b, h / 2), d = moved(c, h);
    for (size_t n = 0; n < 20; ++n) state[n] += h / 6 * (a[n] + 2 * b[n] + 2 * c[n] + d[n]);
  }
  for (size_t n = 0; n < 20; ++n) EXPECT_DOUBLE_EQ(value_at(s, static_cast<int64_t>(n)), state[n]) << n;
}

TEST(Lorenz96, NoiseIsDrawnForEachCell) {
  Lorenz96Config config;
  const Series clean = simulate_lorenz96(config, 3, 4);
  config.noise = 0.5;
  const Series noisy = simulate_lorenz96(config, 3, 4);
  const RandomStream random{4, RandomSite::simulation, 1};
  for (int64_t cell = 0; cell < 48; ++cell) {
    const auto at = [&](int64_t row) { return value_at(clean, row * 16 + cell % 16); };
    const double mean = (at(0) + at(1) + at(2)) / 3;
    const double square =
        (std::pow(at(0) - mean, 2) + std::pow(at(1) - mean, 2) + std::pow(at(2) - mean, 2)) / 3;
    EXPECT_NEAR(value_at(noisy, cell) - value_at(clean, cell),
                0.5 * std::sqrt(square) * random.normal(static_cast<uint64_t>(cell)), 1e-12);
  }
}

TEST(Logistic, StartsFromItsDrawsFourHundredRowsAheadAndAddsNoise) {
  LogisticConfig config;
  config.sites = 3;
  config.rate = 3.2;  // a cycle, so that rounding errors do not grow
  config.noise = 0.25;
  const Series s = simulate_logistic(config, 2, 6);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("map1", "map2", "map3"));
  const RandomStream random{6, RandomSite::simulation, 0}, noise{6, RandomSite::simulation, 1};
  std::vector<double> x(3);
  for (size_t i = 0; i < 3; ++i) x[i] = 0.1 + 0.8 * random.uniform(i);
  for (int row = 0; row < 402; ++row) {
    std::vector<double> f(3);
    for (size_t i = 0; i < 3; ++i) f[i] = 3.2 * x[i] * (1 - x[i]);
    for (size_t i = 0; i < 3; ++i) x[i] = 0.7 * f[i] + 0.15 * (f[(i + 1) % 3] + f[(i + 2) % 3]);
    if (row >= 400)
      for (size_t i = 0; i < 3; ++i) {
        const auto cell = static_cast<uint64_t>(row - 400) * 3 + i;
        EXPECT_DOUBLE_EQ(value_at(s, static_cast<int64_t>(cell)), x[i] + 0.25 * noise.normal(cell));
      }
  }
}

TEST(Seasonal, IsTrendSeasonsAndNoiseThatRemembers) {
  SeasonalConfig config;
  config.variables = 2;
  config.periods = {6, 4.5};
  config.amplitudes = {2, 1};
  config.trend = 0.25;
  config.noise = 0.5;
  config.memory = 0.6;
  const Series s = simulate_seasonal(config, 5, 7);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("series1", "series2"));
  const RandomStream phase{7, RandomSite::simulation, 3}, noise{7, RandomSite::simulation, 1};
  for (uint64_t v = 0; v < 2; ++v) {
    double rest = 0;
    for (uint64_t row = 0; row < 5; ++row) {
      const double z = noise.normal(row * 2 + v), t = static_cast<double>(row);
      rest = row == 0 ? 0.5 / 0.8 * z : 0.6 * rest + 0.5 * z;
      const auto wave = [&](double size, double period, uint64_t at) {
        return size * std::sin(2 * std::numbers::pi * (t / period + phase.uniform(at)));
      };
      EXPECT_DOUBLE_EQ(value_at(s, static_cast<int64_t>(row * 2 + v)),
                       0.25 * t + rest + wave(2, 6, v * 2) + wave(1, 4.5, v * 2 + 1));
    }
  }
  const Scaler scaler{at::zeros({2}, at::kDouble), at::tensor({1.0, 2.0}, at::kDouble), {}, {}};
  const std::vector<double> floor = seasonal_noise_floor(config, scaler, 3);
  ASSERT_EQ(floor.size(), 3U);
  const double weight = (1 + 0.25) / 2;
  EXPECT_DOUBLE_EQ(floor[0], weight * 0.25);
  EXPECT_DOUBLE_EQ(floor[1], weight * 0.25 * (1 + 0.36));
  EXPECT_DOUBLE_EQ(floor[2], weight * 0.25 * (1 + 0.36 + 0.1296));
}

TEST(KnockOut, HidesTheCellsWhoseDrawsAreSmall) {
  Series s = make_series({3, 3}, [](int64_t i) { return static_cast<double>(i + 1); });
  knock_out(s, 0.375, 8);
  const RandomStream random{8, RandomSite::simulation, 2};
  for (int64_t i = 0; i < 9; ++i) {
    const bool hidden =
        random.block(static_cast<uint64_t>(i / 4))[static_cast<size_t>(i % 4)] < 0.375 * 0x1p32;
    EXPECT_EQ(seen_at(s, i), !hidden) << i;
    EXPECT_EQ(value_at(s, i), hidden ? 0 : static_cast<double>(i + 1)) << i;
  }
  EXPECT_THAT(s.notes, ElementsAre("37.5 % of the cells are masked at random"));
  s.observed.fill_(false);
  knock_out(s, 0, 8);
  EXPECT_EQ(s.missing_cells(), 9);  // missing cells stay missing
}

TEST(Simulate, RowsAreLimited) {
  EXPECT_THAT(error_of(ErrorKind::config, [] { simulate_logistic({}, 1'000'000'000, 1); }),
              HasSubstr("more than the 1073741824 allowed"));
}

TEST(Simulate, RowsMayBeDated) {
  ForecastDataConfig config;
  config.simulate = "seasonal";
  config.simulate_rows = 30;
  config.start = "2020-01-01 00:00";
  config.step = "1 h";
  EXPECT_EQ(load_series(config).time.text_at(30), "2020-01-02 06:00");
}

}  // namespace
}  // namespace modewise::data
