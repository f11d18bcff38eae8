#include "modewise/tasks/forecasting/task.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>

namespace modewise::tasks {
namespace {

/// Deterministic values of any shape.
at::Tensor wave(at::IntArrayRef shape, double frequency) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return at::arange(count, at::kFloat).mul(frequency).sin().view(shape);
}

double value_of(const at::Tensor& loss) {
  return loss.item<double>();
}

TEST(ForecastLoss, IsTheMeanOverObservedTargets) {
  const at::Tensor forecast = at::tensor({1.0f, 2.0f, 3.0f, 4.0f}).view({1, 2, 2});
  const at::Tensor future = at::tensor({0.0f, 0.0f, 0.0f, 100.0f}).view({1, 2, 2});
  const at::Tensor observed = at::tensor({1, 1, 1, 0}).view({1, 2, 2}).to(at::kBool);
  ForecastOptions options;
  options.horizon = 2;
  options.loss = "mae";
  EXPECT_FLOAT_EQ(value_of(forecast_loss(forecast, future, observed, options)), 2.0);
  options.loss = "mse";
  EXPECT_FLOAT_EQ(value_of(forecast_loss(forecast, future, observed, options)), 14.0 / 3);
  options.loss = "huber";
  EXPECT_FLOAT_EQ(value_of(forecast_loss(forecast, future, observed, options)), (0.5 + 1.5 + 2.5) / 3);
  EXPECT_FLOAT_EQ(value_of(forecast_loss(forecast, future, at::zeros_like(observed), options)), 0.0);
}

TEST(ForecastLoss, GivesMissingTargetsNoGradient) {
  at::Tensor forecast = wave({2, 3, 5}, 0.7).set_requires_grad(true);
  const at::Tensor observed = wave({2, 3, 5}, 1.3).gt(0);
  const at::Tensor future = at::where(observed, wave({2, 3, 5}, 0.2), at::full({}, NAN));
  ForecastOptions options;
  options.horizon = 5;
  for (const char* loss : {"mse", "mae", "huber"}) {
    options.loss = loss;
    forecast.mutable_grad() = at::Tensor();
    forecast_loss(forecast, future, observed, options).backward();
    EXPECT_TRUE(forecast.grad().masked_select(observed.logical_not()).eq(0).all().item<bool>()) << loss;
    EXPECT_TRUE(forecast.grad().isfinite().all().item<bool>()) << loss;
  }
}

TEST(ForecastLoss, OfSeveralHorizonsIsTheMeanOfTheirPrefixes) {
  const at::Tensor forecast = wave({3, 4, 6}, 0.7), future = wave({3, 4, 6}, 0.3);
  const at::Tensor observed = wave({3, 4, 6}, 1.1).gt(-0.5);
  ForecastOptions options;
  options.loss = "mse";
  options.horizons = {6, 2, 3};
  double expected = 0;
  for (const int64_t steps : {2, 3, 6}) {
    ForecastOptions one;
    one.loss = "mse";
    one.horizon = steps;
    const auto cut = [&](const at::Tensor& x) { return x.narrow(-1, 0, steps); };
    expected += value_of(forecast_loss(cut(forecast), cut(future), cut(observed), one)) / 3;
  }
  EXPECT_NEAR(value_of(forecast_loss(forecast, future, observed, options)), expected, 1e-6);
}

TEST(ForecastLoss, OfQuantilesIsThePinballLoss) {
  // y = 1, quantiles 0 (τ .1), 0.5 (τ .5), 3 (τ .9): .1·1, .5·.5, .1·2.
  ForecastOptions options;
  options.loss = "quantile";
  options.horizon = 1;
  options.quantiles = {0.1, 0.5, 0.9};
  const at::Tensor forecast = at::tensor({0.0f, 0.5f, 3.0f}).view({1, 1, 1, 3});
  EXPECT_NEAR(value_of(forecast_loss(forecast, at::ones({1, 1, 1}), {}, options)), (0.1 + 0.25 + 0.2) / 3,
              1e-7);
}

TEST(ForecastLoss, HasTheSameBitsForAnyNumberOfThreads) {
  const at::Tensor future = wave({33, 65, 7}, 0.3);
  ForecastOptions options;
  options.horizon = 7;
  options.loss = "mse";
  std::vector<std::pair<double, at::Tensor>> results;
  const int threads = at::get_num_threads();
  for (const int count : {1, 2, 3, 4}) {
    at::set_num_threads(count);
    at::Tensor forecast = wave({33, 65, 7}, 0.7).set_requires_grad(true);
    const at::Tensor loss = forecast_loss(forecast, future, {}, options);
    loss.backward();
    results.emplace_back(value_of(loss), forecast.grad());
  }
  at::set_num_threads(threads);
  for (const auto& [loss, gradient] : results) {
    EXPECT_EQ(loss, results.front().first);
    EXPECT_TRUE(gradient.equal(results.front().second));
  }
}

}  // namespace
}  // namespace modewise::tasks
