// Local models as forecasters: units, gaps, choice of season and form, and refitting.

#include "modewise/models/forecasting/local_forecaster.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/seasonal_adjustment.h"
#include "modewise/models/forecasting/smoothing_fit.h"
#include "modewise/models/forecasting/theta.h"
#include "tests/error_of.h"
#include "tests/models/read_vectors.h"

namespace modewise::models {
namespace {

constexpr int64_t kLookback = 33, kHorizon = 5;

std::shared_ptr<Forecaster> model_of(const std::vector<std::string>& settings, int64_t quantiles = 0,
                                     bool missing = false) {
  ForecasterConfig config;
  Fields fields = fields_of(config);
  for (const std::string& setting : settings) fields.set(setting);
  return make_forecaster(config, {{2}, {false}, kLookback, kHorizon, quantiles, missing}, 1);
}

/// Two series of 80 rows in the data's units: one positive with a multiplicative season of 4, one around 0
/// without season.
at::Tensor units() {
  std::vector<double> all;
  for (int t = 0; t < 80; ++t)
    all.push_back((30 + 0.4 * t) * (t % 4 == 0   ? 1.4
                                    : t % 4 == 1 ? 0.7
                                                 : 0.95) +
                  0.3 * std::sin(t * t * 0.7));
  double level = 0;
  for (int t = 0; t < 80; ++t) all.push_back(level += std::sin(t * t * 1.3));
  return at::tensor(all, at::kDouble).view({2, 80});
}

FittingRows rows_of(const at::Tensor& values, int64_t training) {
  FittingRows rows;
  rows.mean = values.mean(1);
  rows.stddev = at::tensor(std::vector<double>{2.5, 0.5}, at::kDouble);
  rows.values = ((values - rows.mean.unsqueeze(1)) / rows.stddev.unsqueeze(1)).to(at::kFloat);
  rows.last = training;
  return rows;
}

std::vector<double> as_list(const at::Tensor& x) {
  const at::Tensor flat = x.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

ForecastInput window(const FittingRows& rows, int64_t first) {
  ForecastInput input;
  input.past = rows.values.narrow(1, first, kLookback).unsqueeze(0).clone();
  if (rows.observed.defined())
    input.observed = rows.observed.narrow(1, first, kLookback).unsqueeze(0).clone();
  input.first_step = at::full({1}, first, at::kLong);
  return input;
}

/// Rows of a series from `first` on, rounded to float32 as in the model's input.
std::vector<double> seen(const FittingRows& rows, int64_t series, int64_t first, int64_t count) {
  std::vector<double> out;
  for (const double value : as_list(rows.values[series].narrow(0, first, count)))
    out.push_back(value * rows.stddev[series].item<double>() + rows.mean[series].item<double>());
  return out;
}

std::vector<double> in_units(const at::Tensor& forecast, const FittingRows& rows, int64_t series) {
  return as_list(forecast[0][series].to(at::kDouble) * rows.stddev[series] + rows.mean[series]);
}

TEST(ThetaForecaster, IsTheThetaOfTheWindowWithoutItsSeason) {
  const FittingRows rows = rows_of(units(), 60);
  for (const auto& [name, form] : {std::pair{"name=theta", ThetaForm::standard},
                                   {"name=optimised-theta", ThetaForm::optimised},
                                   {"name=dynamic-theta", ThetaForm::dynamic}}) {
    const auto model = model_of({name, "period=4"});
    model->fit(rows);
    const at::Tensor out = model->forward(window(rows, 41));
    EXPECT_EQ(as_list(*model->named_buffers().find("seasonal")), (std::vector<double>{1, 0}));
    std::vector<double> history = seen(rows, 0, 41, kLookback);
    const Season season = classical_season(history, 4, true);
    for (size_t t = 0; t < history.size(); ++t)
      history[t] = season.take_off(history[t], static_cast<int64_t>(t));
    std::vector<double> wanted = forecast_theta(fit_theta(form, history), history, kHorizon).mean;
    for (size_t h = 0; h < wanted.size(); ++h)
      wanted[h] = season.put_back(wanted[h], kLookback + static_cast<int64_t>(h));
    expect_near(in_units(out, rows, 0), wanted, 1e-6, name);
    history = seen(rows, 1, 41, kLookback);
    expect_near(in_units(out, rows, 1), forecast_theta(fit_theta(form, history), history, kHorizon).mean,
                1e-5, name);
  }
}

TEST(EtsForecaster, FiltersTheWindowWithTheTrainingRowsParameters) {
  const FittingRows rows = rows_of(units(), 60);
  const auto model = model_of({"name=ets", "period=4"});
  model->fit(rows);
  const at::Tensor out = model->forward(window(rows, 41));
  for (int64_t s : {0, 1}) {
    const std::vector<double> training = seen(rows, s, 0, 60), history = seen(rows, s, 41, kLookback);
    const SmoothingFit fit = choose_smoothing(forms_to_try(training, 4, kLookback), training, 4);
    EXPECT_EQ(fit.form.has_season(), s == 0);
    SmoothingStates states = fit_states(fit.form, fit.parameters, history, 4);
    std::vector<double> fitted(history.size());
    smooth(fit.form, fit.parameters, history, states, fitted);
    expect_near(in_units(out, rows, s),
                forecast_smoothing(fit.form, fit.parameters, states, 1, kHorizon).mean, 1e-5,
                fit.form.name());
  }
}

TEST(EtsForecaster, TakesAGivenForm) {
  const FittingRows rows = rows_of(units(), 60);
  const auto model = model_of({"name=ets", "period=4", "ets.form=AAdA"});
  model->fit(rows);
  EXPECT_EQ(as_list(*model->named_buffers().find("forms")),
            (std::vector<double>{'A', 'A', 'A', 1, 'A', 'A', 'A', 1}));
  const auto positive = model_of({"name=ets", "period=4", "ets.form=MAM"});
  try {
    positive->fit(rows);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_TRUE(std::string(error.what())
                    .starts_with(
                        "ets.form = \"MAM\" is multiplicative and needs positive values, but series 2 has -"))
        << error.what();
  }
  FittingRows few = rows_of(units(), 13);
  try {
    model->fit(few);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_EQ(std::string(error.what()),
              "ets.form = \"AAdA\" with a period of 4 rows needs at least 14 rows, but there are 13");
  }
}

TEST(EtsForecaster, ASeasonNeedsALookbackThatHoldsIt) {
  try {
    model_of({"name=ets", "period=17", "ets.form=ANA"});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_EQ(std::string(error.what()),
              "model: ets.form = \"ANA\" with period = 17 needs a period of at least 2 and a "
              "lookback of at least 34 rows, got 33");
  }
}

TEST(EtsForecaster, AWindowThatIsNotPositiveIsSmoothedByAddedParts) {
  FittingRows rows = rows_of(units(), 60);
  const auto model = model_of({"name=ets", "period=4"});
  model->fit(rows);
  EXPECT_EQ(as_list(*model->named_buffers().find("forms"))[0], 'M');
  ForecastInput input = window(rows, 41);
  input.past[0][0][20] = -1000;
  const at::Tensor out = model->forward(input);
  std::vector<double> history = seen(rows, 0, 41, kLookback);
  history[20] = -1000.0F * 2.5 + rows.mean[0].item<double>();
  const std::vector<double> p = as_list((*model->named_buffers().find("parameters"))[0]);
  const SmoothingForm form{'A', 'A', 'A', as_list(*model->named_buffers().find("forms"))[3] != 0};
  SmoothingStates states = fit_states(form, {p[0], p[1], p[2], p[3]}, history, 4);
  std::vector<double> fitted(history.size());
  smooth(form, {p[0], p[1], p[2], p[3]}, history, states, fitted);
  expect_near(in_units(out, rows, 0),
              forecast_smoothing(form, {p[0], p[1], p[2], p[3]}, states, 1, kHorizon).mean, 1e-5, "added");
}

TEST(LocalForecaster, GapsAreClosedByStraightLines) {
  FittingRows rows = rows_of(units(), 60);
  rows.observed = at::ones({2, 80}, at::kBool);
  for (const int64_t gap : {41, 42, 50, 51, 52, 73}) rows.observed[0][gap] = false;  // the window is 41 … 73
  for (const char* name : {"name=theta", "name=ets"}) {
    const auto model = model_of({name, "period=4"}, 0, true);
    model->fit(rows);
    ForecastInput input = window(rows, 41), closed = input;
    const at::Tensor& x = input.past[0][0];
    closed.past = input.past.clone();
    closed.observed = at::ones_like(input.observed);
    at::Tensor y = closed.past[0][0];
    y[0] = x[2], y[1] = x[2];
    for (int64_t i = 9; i < 12; ++i) y[i] = x[8] + (x[12] - x[8]) * static_cast<double>(i - 8) / 4;
    y[32] = x[31];
    EXPECT_LT((model->forward(input) - model->forward(closed)).abs().max().item<double>(), 1e-5) << name;
    input.observed.fill_(false);
    EXPECT_EQ(model->forward(input).abs().max().item<double>(), 0) << name;  // the training mean
  }
}

TEST(LocalForecaster, FitsToTheLastTrainingRowsAlone) {
  const FittingRows rows = rows_of(units(), 60);
  FittingRows changed = rows;
  changed.values = rows.values.clone();
  changed.values.narrow(1, 60, 20).fill_(7);  // rows after the training rows
  const auto variances = [](const FittingRows& from) {
    const auto model = model_of({"name=ets", "period=4"});
    model->fit(from);
    return as_list(*model->named_buffers().find("variances"));
  };
  EXPECT_EQ(variances(rows), variances(changed));
  FittingRows more = rows;
  more.last = 80;
  EXPECT_NE(variances(rows), variances(more));
  EXPECT_TRUE(model_of({"name=ets"})->refits());
  EXPECT_TRUE(model_of({"name=theta"})->refits());
  EXPECT_FALSE(model_of({"name=ridge"})->refits());
}

TEST(LocalForecaster, QuantilesAreNormalOrSimulated) {
  const FittingRows rows = rows_of(units(), 60);
  const auto model = model_of({"name=ets", "period=4"}, 3), point = model_of({"name=ets", "period=4"});
  model->fit(rows);
  point->fit(rows);
  const ForecastInput input = window(rows, 41);
  const at::Tensor out = model->forward(input), mean = point->forward(input);
  // Series 1 has an additive form: quartiles at ±0.674 of the formula's standard deviation.
  const std::vector<double> p = as_list((*model->named_buffers().find("parameters"))[1]);
  const double variance = (*model->named_buffers().find("variances"))[1].item<double>();
  const std::vector<double> codes = as_list((*model->named_buffers().find("forms"))[1]);
  const SmoothingForm form{static_cast<char>(codes[0]), static_cast<char>(codes[1]),
                           static_cast<char>(codes[2]), codes[3] != 0};
  ASSERT_FALSE(form.multiplies());
  const StepForecast steps =
      forecast_smoothing(form, {p[0], p[1], p[2], p[3]}, {0, 0, {}, 0}, variance, kHorizon);
  for (int64_t h = 0; h < kHorizon; ++h)
    for (int64_t level : {0, 1, 2})
      EXPECT_NEAR(out[0][1][h][level].item<double>(),
                  mean[0][1][h].item<double>() + static_cast<double>(level - 1) * 0.6744897501960817 *
                                                     steps.stddev[static_cast<size_t>(h)] / 0.5,
                  1e-5);
  // Series 0 is multiplicative: the quartiles of 400 simulated paths are near those of a normal one-step
  // error.
  const double spread = std::sqrt((*model->named_buffers().find("variances"))[0].item<double>());
  const double one = in_units(mean, rows, 0)[0];
  const double width = (out[0][0][0][2] - out[0][0][0][0]).item<double>() * 2.5;
  EXPECT_NEAR(width / (2 * 0.6744897501960817 * spread * one), 1, 0.25);  // 4 standard errors of 400 draws
  EXPECT_GE(out.diff(1, -1).min().item<double>(), 0);
}

TEST(LocalForecaster, IsRemadeForAnotherShapeWithoutACheckOfItsOptions) {
  ForecasterConfig config;
  config.use_model("seasonal");
  config.period = 4;
  ForecastShape shape{{1}, {false}, 4, kHorizon};
  const ForecastInput input{at::arange(4, at::kFloat).view({1, 1, 4}), {}, at::zeros({1}, at::kLong)};
  EXPECT_TRUE(at::equal(make_reshaped(config, shape, 1)->forward(input),
                        make_forecaster(config, shape, 1)->forward(input)));
  config.individual = true;  // seasonal has no such option
  EXPECT_EQ(error_of(ErrorKind::config, [&] { make_forecaster(config, shape, 1); }),
            "model: individual = true has no effect: model 'seasonal' has no such option (it is an option of "
            "dlinear, nlinear, rlinear, ridge)");
  EXPECT_NO_THROW(make_reshaped(config, shape, 1));
  shape.lookback = 3;
  EXPECT_EQ(error_of(ErrorKind::config, [&] { make_reshaped(config, shape, 1); }),
            "model: period = 4 is longer than the lookback of 3 rows");
}

}  // namespace
}  // namespace modewise::models
