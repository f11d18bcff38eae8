// Properties of every forecaster: masked values have no effect, weights depend on the seed, results do not
// depend on threads, and gradients reach all parameters.

#include "modewise/models/forecasting/forecaster.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/ensemble.h"
#include "modewise/ops/kernel_info.h"
#include "tests/error_of.h"

namespace modewise::models {
namespace {

ForecasterConfig config_of(const std::string& name, const std::vector<std::string>& settings = {}) {
  ForecasterConfig config;
  Fields fields = fields_of(config);
  fields.set("name=" + name);
  for (const auto& setting : settings) fields.set(setting);
  return config;
}

/// A small config for tests: those of these settings that the model has, with dropout.
ForecasterConfig small_config(const std::string& name) {
  const ForecasterRow& row = row_of(forecasters(), name);
  std::vector<std::string> settings;
  for (const std::string setting :
       {"width=16", "hidden=24", "heads=2", "patch.length=6", "patch.stride=4", "dropout=0.2",
        "head.dropout=0.2", "window.cycle=7", "future_covariates.width=5", "period=5", "tide.step_width=3"})
    if (row.has_option(setting.substr(0, setting.find('=')))) settings.push_back(setting);
  ForecasterConfig config = config_of(name, settings);
  if (name == "ensemble")
    for (const auto& [member, lookback] : {std::pair("hot", 18), std::pair("dlinear", 21)})
      config.ensemble.members.push_back(EnsembleMember{lookback, small_config(member)}.to_toml());
  return config;
}

ForecastShape small_shape(bool missing, int64_t quantiles = 0) {
  ForecastShape shape;
  shape.series = {2, 3};
  shape.lookback = 21;
  shape.horizon = 8;
  shape.quantiles = quantiles;
  shape.missing = missing;
  return shape;
}

ForecastInput input_for(const ForecastShape& shape, int64_t batch, uint64_t seed) {
  at::manual_seed(seed);
  std::vector<int64_t> sizes{batch};
  sizes.insert(sizes.end(), shape.series.begin(), shape.series.end());
  sizes.push_back(shape.lookback);
  ForecastInput input;
  input.past = at::randn(sizes);
  if (shape.missing) input.observed = at::rand(sizes) > 0.4;
  input.first_step = at::arange(batch, at::kLong) * 3 + 2;
  if (shape.known > 0) {
    sizes.resize(static_cast<size_t>(1 + shape.known_modes));
    sizes.push_back(shape.known);
    sizes.push_back(shape.lookback + shape.horizon);
    input.known = at::randn(sizes);
  }
  return input;
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.equal(b);
}

class EveryForecaster : public testing::TestWithParam<std::string> {};

TEST_P(EveryForecaster, ShapesOfPointAndQuantileForecasts) {
  for (int64_t quantiles : {0, 1, 2, 5}) {
    const ForecastShape shape = small_shape(false, quantiles);
    auto model = make_forecaster(small_config(GetParam()), shape, 1);
    model->eval();
    const at::Tensor out = model->forward(input_for(shape, 4, 1));
    std::vector<int64_t> wanted{4, 2, 3, 8};
    if (quantiles > 0) wanted.push_back(quantiles);
    EXPECT_EQ(out.sizes().vec(), wanted);
    if (quantiles > 1) {
      EXPECT_GE(out.diff(1, -1).min().item<double>(), 0) << "quantiles must not cross";
    }
    wanted[0] = 0;
    EXPECT_EQ(model->forward(input_for(shape, 0, 1)).sizes().vec(), wanted);
  }
}

TEST_P(EveryForecaster, ValuesUnderMissingCellsChangeNoBit) {
  const ForecastShape shape = small_shape(true);
  auto model = make_forecaster(small_config(GetParam()), shape, 1);
  ForecastInput input = input_for(shape, 3, 2);
  input.observed[1][0][0].fill_(false);  // a series without any observed cell
  input.observed[2].fill_(false);        // a window without any observed cell
  for (bool training : {false, true}) {
    model->train(training);
    set_dropout_step(*model, 1, 5);
    const at::Tensor out = model->forward(input);
    EXPECT_TRUE(out.isfinite().all().item<bool>());
    for (double junk : {1e6, -3.0, std::numeric_limits<double>::quiet_NaN()}) {
      ForecastInput other = input;
      other.past = at::where(input.observed, input.past, at::full({}, junk, at::kFloat));
      EXPECT_TRUE(same_bits(out, model->forward(other))) << junk;
    }
  }
}

TEST_P(EveryForecaster, WeightsDependOnTheSeedAlone) {
  const ForecastShape shape = small_shape(false);
  auto first = make_forecaster(small_config(GetParam()), shape, 7);
  at::randn({5});  // other random draws in between do not matter
  auto again = make_forecaster(small_config(GetParam()), shape, 7);
  auto other = make_forecaster(small_config(GetParam()), shape, 8);
  bool differs = first->parameters().empty();
  for (size_t i = 0; i < first->parameters().size(); ++i) {
    EXPECT_TRUE(same_bits(first->parameters()[i], again->parameters()[i]));
    differs = differs || !same_bits(first->parameters()[i], other->parameters()[i]);
  }
  EXPECT_TRUE(differs);
}

/// Loss, gradients and the forecast, as bits.
std::vector<at::Tensor> training_step(const std::string& name, int threads, uint64_t step,
                                      const char* precision) {
  at::set_num_threads(threads);
  ForecastShape shape = small_shape(name != "patchtst");
  shape.series = {5, 7};
  ForecasterConfig config = small_config(name);
  config.precision = precision;
  auto model = make_forecaster(config, shape, 3);
  model->train();
  set_dropout_step(*model, 11, step);
  const at::Tensor out = model->forward(input_for(shape, 33, 3));
  std::vector<at::Tensor> bits{out.detach()};
  if (out.requires_grad()) {
    out.square().mean(-1).mean(-1).mean(-1).mean(-1).backward();
    for (const auto& parameter : model->parameters()) bits.push_back(parameter.grad());
  }
  return bits;
}

TEST_P(EveryForecaster, ForwardAndBackwardHaveTheSameBitsForAnyNumberOfThreads) {
  const int threads = at::get_num_threads();
  const bool has_bf16 = row_of(forecasters(), GetParam()).has_option("precision");
  for (const char* precision : {"float32", "bf16"}) {
    if (precision == std::string("bf16") && !has_bf16) continue;
    const auto one = training_step(GetParam(), 1, 4, precision);
    for (int count : {2, 3, 4}) {
      const auto many = training_step(GetParam(), count, 4, precision);
      ASSERT_EQ(one.size(), many.size());
      for (size_t i = 0; i < one.size(); ++i)
        EXPECT_TRUE(same_bits(one[i], many[i])) << count << " threads, " << i;
    }
  }
  at::set_num_threads(threads);
}

TEST_P(EveryForecaster, WrongInputsAreDataErrors) {
  const ForecastShape shape = small_shape(false);
  auto model = make_forecaster(small_config(GetParam()), shape, 1);
  ForecastInput input = input_for(shape, 2, 1);
  ForecastInput wrong = input;
  wrong.past = input.past.narrow(-1, 0, 20);
  EXPECT_THAT(error_of(ErrorKind::data, [&] { model->forward(wrong); }),
              testing::HasSubstr("past must be [2, 2, 3, 21], got [2, 2, 3, 20]"));
  wrong = input;
  wrong.observed = input.past > 0;
  EXPECT_THAT(error_of(ErrorKind::data, [&] { model->forward(wrong); }),
              testing::HasSubstr("built for data without missing cells"));
}

INSTANTIATE_TEST_SUITE_P(Models, EveryForecaster, testing::ValuesIn(names_of(forecasters())),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class EveryTokenForecaster : public testing::TestWithParam<std::string> {};

TEST_P(EveryTokenForecaster, GradientsReachEveryParameter) {
  const ForecastShape shape = small_shape(true, 3);
  for (const char* head : {"flatten", "mean", "attention"}) {
    ForecasterConfig config =
        config_of(GetParam(), {"width=16", "hidden=24", "heads=2", "patch.length=6", "patch.stride=4",
                               "window.cycle=7", "window.affine=true", "position.encoding=learned",
                               "layer_scale=0.1", "head.skip=individual", std::string("head.time=") + head});
    auto model = make_forecaster(config, shape, 1);
    model->forward(input_for(shape, 6, 1)).sum(-1).sum(-1).square().sum(-1).sum(-1).sum(-1).backward();
    for (const auto& item : model->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      EXPECT_GT(item.value().grad().abs().max().item<double>(), 0) << item.key() << " with head " << head;
    }
  }
}

TEST_P(EveryTokenForecaster, IsEquivariantToPermutationsOfVariablesWithoutModeEmbeddings) {
  ForecastShape shape = small_shape(true);
  shape.series = {5};
  const at::Tensor order = at::tensor({3, 0, 4, 1, 2}, at::kLong);
  for (bool identity : {false, true}) {
    ForecasterConfig config =
        config_of(GetParam(), {"width=16", "hidden=24", "heads=2", "patch.length=7", "patch.stride=7"});
    config.position.identity = identity;
    auto model = make_forecaster(config, shape, 1);
    model->to(at::kDouble);
    model->eval();
    ForecastInput input = input_for(shape, 3, 1);
    input.past = input.past.to(at::kDouble);
    ForecastInput permuted = input;
    permuted.past = input.past.index_select(1, order);
    permuted.observed = input.observed.index_select(1, order);
    const double difference =
        (model->forward(permuted) - model->forward(input).index_select(1, order)).abs().max().item<double>();
    if (identity) {
      EXPECT_GT(difference, 1e-6);
    } else {
      EXPECT_LT(difference, 1e-12);
    }
  }
}

TEST_P(EveryTokenForecaster, BFloat16StaysNearFloat32) {
  const ForecastShape shape = small_shape(true);
  ForecasterConfig config = small_config(GetParam());
  auto single = make_forecaster(config, shape, 1);
  config.precision = "bf16";
  auto half = make_forecaster(config, shape, 1);
  single->eval();
  half->eval();
  const ForecastInput input = input_for(shape, 16, 1);
  const at::Tensor exact = single->forward(input), rounded = half->forward(input);
  EXPECT_EQ(rounded.scalar_type(), at::kFloat);
  ops::use_reference(true);  // the bf16 error of the formulas in plain ATen
  const at::Tensor plain = half->forward(input);
  ops::use_reference(false);
  const auto error = [&](const at::Tensor& x) { return (x - exact).square().mean().sqrt().item<double>(); };
  EXPECT_LT(error(rounded), 1.2 * error(plain));
  EXPECT_GT(error(rounded), 0);
}

TEST_P(EveryTokenForecaster, DropoutFollowsSeedAndStep) {
  const auto first = training_step(GetParam(), 1, 4, "float32");
  EXPECT_TRUE(same_bits(first[0], training_step(GetParam(), 1, 4, "float32")[0]));
  EXPECT_FALSE(same_bits(first[0], training_step(GetParam(), 1, 5, "float32")[0]));
}

INSTANTIATE_TEST_SUITE_P(Models, EveryTokenForecaster,
                         testing::Values("hot", "transformer", "spatial", "temporal"),
                         [](const auto& param) { return param.param; });

/// The models that use future covariates.
std::vector<std::string> looking_ahead() {
  std::vector<std::string> names;
  for (const ForecasterRow& row : forecasters())
    if (uses_future_covariates(row)) names.push_back(row.name);
  return names;
}

class EveryForecasterThatLooksAhead : public testing::TestWithParam<std::string> {
 protected:
  /// A model with future covariates that differ along `modes` modes, and all weights nonzero.
  std::shared_ptr<Forecaster> made(const ForecastShape& shape) const {
    auto model = make_forecaster(small_config(GetParam()), shape, 1);
    const at::NoGradGuard no_grad;
    at::manual_seed(9);
    for (at::Tensor& parameter : model->parameters()) parameter.add_(at::randn_like(parameter), 0.1);
    return model;
  }
  static ForecastShape shape_of(int64_t modes, bool missing = true, int64_t quantiles = 3) {
    ForecastShape shape = small_shape(missing, quantiles);
    shape.known = 2;
    shape.known_modes = modes;
    return shape;
  }
};

TEST_P(EveryForecasterThatLooksAhead, GradientsReachEveryParameter) {
  for (int64_t modes : {0, 1, 2}) {
    const ForecastShape shape = shape_of(modes);
    const auto model = made(shape);
    model->forward(input_for(shape, 6, 1)).square().sum(-1).sum(-1).sum(-1).sum(-1).sum(-1).backward();
    for (const auto& item : model->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      EXPECT_GT(item.value().grad().abs().max().item<double>(), 0) << item.key();
    }
  }
}

TEST_P(EveryForecasterThatLooksAhead, BothPartsOfWhatIsKnownReachTheForecastOfTheirPlaceAlone) {
  const ForecastShape shape = shape_of(1, false, 0);
  const auto model = made(shape);
  model->eval();
  const ForecastInput input = input_for(shape, 2, 1);
  const at::Tensor out = model->forward(input);
  for (const int64_t step : {int64_t{0}, shape.lookback, shape.lookback + shape.horizon - 1}) {
    ForecastInput other = input;
    other.known = input.known.clone();
    other.known[1][0].select(-1, step).add_(1);
    const at::Tensor change = (model->forward(other) - out).abs();
    if (GetParam() == "timesnet" && step >= shape.lookback)  // embeds the window alone
      EXPECT_EQ(change.max().item<double>(), 0) << step;
    else
      EXPECT_GT(change[1][0].max().item<double>(), 1e-5) << step;
    EXPECT_EQ(change[0].max().item<double>(), 0) << "another window";
  }
}

TEST_P(EveryForecasterThatLooksAhead, TheSameBitsForAnyNumberOfThreads) {
  const int threads = at::get_num_threads();
  const auto step = [&](int count) {
    at::set_num_threads(count);
    ForecastShape shape = shape_of(1);
    shape.series = {5, 7};
    const auto model = made(shape);
    model->train();
    set_dropout_step(*model, 11, 4);
    const at::Tensor out = model->forward(input_for(shape, 33, 3));
    out.square().mean(-1).mean(-1).mean(-1).mean(-1).mean(-1).backward();
    std::vector<at::Tensor> bits{out.detach()};
    for (const auto& parameter : model->parameters()) bits.push_back(parameter.grad());
    return bits;
  };
  const auto one = step(1);
  for (int count : {2, 3, 4}) {
    const auto many = step(count);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], many[i])) << count << ", " << i;
  }
  at::set_num_threads(threads);
}

TEST_P(EveryForecasterThatLooksAhead, AnotherShapeIsADataError) {
  const ForecastShape shape = shape_of(1);
  const auto model = made(shape);
  ForecastInput input = input_for(shape, 2, 1);
  input.known = input.known.narrow(-1, 1, 28);
  EXPECT_EQ(error_of(ErrorKind::data, [&] { model->forward(input); }),
            "forecaster: future covariates must be [2, 2, 2, 29], got [2, 2, 2, 28]");
  input.known = at::Tensor();
  EXPECT_EQ(error_of(ErrorKind::data, [&] { model->forward(input); }),
            "forecaster: future covariates must be [2, 2, 2, 29], got [nothing]");
}

INSTANTIATE_TEST_SUITE_P(Models, EveryForecasterThatLooksAhead, testing::ValuesIn(looking_ahead()),
                         [](const auto& param) { return param.param; });

TEST(Hot, BeginsAsWithoutWhatIsKnown) {
  ForecastShape shape = small_shape(true);
  const auto plain = make_forecaster(small_config("hot"), shape, 1);
  shape.known = 3;
  const auto knowing = make_forecaster(small_config("hot"), shape, 1);
  const ForecastInput input = input_for(shape, 3, 1);
  plain->eval();
  knowing->eval();
  EXPECT_TRUE(
      same_bits(plain->forward({input.past, input.observed, input.first_step}), knowing->forward(input)));
}

TEST(Ensemble, HandsTheMembersWhatIsKnownOfTheirRows) {
  ForecastShape shape = small_shape(false);
  shape.known = 2;
  ForecasterConfig config = config_of("ensemble");
  config.ensemble.members = {EnsembleMember{18, small_config("tide")}.to_toml()};
  auto model = make_forecaster(config, shape, 1);
  model->eval();
  const ForecastInput input = input_for(shape, 3, 1);
  auto& member = dynamic_cast<EnsembleForecaster&>(*model).member(0);
  const at::Tensor alone =
      member.forward({input.past.narrow(-1, 3, 18), {}, input.first_step + 3, input.known.narrow(-1, 3, 26)});
  EXPECT_TRUE(same_bits(model->forward(input), alone));
  config.ensemble.members.push_back(EnsembleMember{18, small_config("dlinear")}.to_toml());
  EXPECT_THAT(error_of(ErrorKind::config, [&] { make_forecaster(config, shape, 1); }),
              testing::HasSubstr(
                  "ensemble.members, member 2: data.future_covariates and data.calendar need a model"));
}

TEST(Hot, TrainsWithTheLinearKernelOnAllModesOrSome) {
  const ForecastShape shape = small_shape(true);
  for (const char* modes : {"[]", "[2]", "[0,2]"}) {
    auto model = make_forecaster(
        config_of("hot", {"width=16", "hidden=24", "heads=2", "patch.length=6", "patch.stride=4",
                          "attention.kernel=linear", std::string("attention.attend_modes=") + modes}),
        shape, 1);
    model->forward(input_for(shape, 4, 1)).square().mean(-1).mean(-1).mean(-1).mean(-1).backward();
    for (const auto& item : model->named_parameters())
      EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
  }
}

TEST(Hot, AttentionMapsAreRowStochasticPerLayerAndMode) {
  const ForecastShape shape = small_shape(true);
  ForecasterConfig config = small_config("hot");
  config.attention.attend_modes = {2, 1};
  auto model = make_forecaster(config, shape, 1);
  model->eval();
  ForecastInput input = input_for(shape, 3, 1);
  const auto layers = model->attention(input).maps;
  ASSERT_EQ(layers.size(), 2u);
  for (const auto& layer : layers) {
    EXPECT_EQ(layer.modes, (std::vector<int64_t>{2, 1}));
    ASSERT_EQ(layer.factors.size(), 2u);
    EXPECT_EQ(layer.factors[0].sizes().vec(), (std::vector<int64_t>{3, 2, 5, 5}));
    EXPECT_EQ(layer.factors[1].sizes().vec(), (std::vector<int64_t>{3, 2, 3, 3}));
    for (const auto& factor : layer.factors) EXPECT_LT((factor.sum(-1) - 1).abs().max().item<double>(), 1e-5);
  }
  EXPECT_TRUE(make_forecaster(small_config("transformer"), shape, 1)->attention(input).maps.empty());
}

TEST(Hot, StartsAtTheLastValueWithAZeroHead) {
  const ForecastShape shape = small_shape(true);
  auto model = make_forecaster(config_of("hot", {"width=16", "heads=2", "patch.length=6", "patch.stride=4",
                                                 "window.centre=last", "head.zero_start=true"}),
                               shape, 1);
  auto repeat = make_forecaster(config_of("repeat"), shape, 1);
  const ForecastInput input = input_for(shape, 3, 1);
  EXPECT_LT((model->forward(input) - repeat->forward(input)).abs().max().item<double>(), 1e-6);
}

TEST(Hot, CycleStartsFromAProfileOfTheTrainingData) {
  ForecastShape shape = small_shape(false);
  auto model = make_forecaster(
      config_of("hot", {"width=16", "heads=2", "patch.length=6", "patch.stride=4", "window.cycle=7",
                        "window.centre=none", "window.scale=none", "head.zero_start=true"}),
      shape, 1);
  EXPECT_EQ(model->cycle_to_start(), 7);
  const at::Tensor profile = at::randn({7, 2, 3});
  model->start_cycle(profile);
  const ForecastInput input =
      input_for(shape, 2, 1);  // windows start at rows 2 and 5, forecasts 21 rows later
  const at::Tensor out = model->forward(input);
  for (int64_t h = 0; h < 8; ++h)
    EXPECT_LT((out.select(0, 1).select(-1, h) - profile[(5 + 21 + h) % 7]).abs().max().item<double>(), 1e-6);
  EXPECT_EQ(make_forecaster(config_of("hot", {"window.cycle=7", "window.cycle_start=zero"}), shape, 1)
                ->cycle_to_start(),
            0);
}

TEST(DLinear, CycleIsTakenOffTheWindowAndPutBackOnTheForecast) {
  const ForecastShape shape = small_shape(false);
  auto plain = make_forecaster(config_of("dlinear"), shape, 1);
  auto cyclic =
      make_forecaster(config_of("dlinear", {"window.cycle=7"}), shape, 1);  // the same linear layers
  EXPECT_EQ(cyclic->cycle_to_start(), 7);
  for (auto* model : {plain.get(), cyclic.get()}) model->to(at::kDouble);
  const at::Tensor profile = at::randn({7, 2, 3}, at::kDouble);
  cyclic->start_cycle(profile);
  ForecastInput input = input_for(shape, 2, 1);  // windows begin at rows 2 and 5
  input.past = input.past.to(at::kDouble);
  ForecastInput without = input;
  without.past = input.past.clone();
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t t = 0; t < 21; ++t) without.past[b].select(-1, t).sub_(profile[(2 + 3 * b + t) % 7]);
  at::Tensor wanted = plain->forward(without).detach().clone();
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 8; ++h) wanted[b].select(-1, h).add_(profile[(2 + 3 * b + 21 + h) % 7]);
  EXPECT_LT((cyclic->forward(input) - wanted).abs().max().item<double>(), 1e-12);
}

TEST(Seasonal, RepeatsTheNewestObservedSeason) {
  ForecastShape shape;
  shape.series = {1};
  shape.lookback = 7;
  shape.horizon = 5;
  shape.missing = true;
  auto model = make_forecaster(config_of("seasonal", {"period=3"}), shape, 1);
  ForecastInput input;
  input.past = at::arange(7, at::kFloat).view({1, 1, 7});
  input.observed = at::full({1, 1, 7}, true, at::kBool);
  EXPECT_TRUE(same_bits(model->forward(input).flatten(), at::tensor({4.f, 5.f, 6.f, 4.f, 5.f})));
  input.observed[0][0][4] = false;  // its phase was observed one season before
  input.observed[0][0][5] = false;  // its phase was observed at row 2
  EXPECT_TRUE(same_bits(model->forward(input).flatten(), at::tensor({1.f, 2.f, 6.f, 1.f, 2.f})));
  input.observed[0][0][1] = false;  // its phase was never observed: the last value
  EXPECT_TRUE(same_bits(model->forward(input).flatten(), at::tensor({6.f, 2.f, 6.f, 6.f, 2.f})));
}

/// One series of 7 rows, 5 steps ahead.
at::Tensor drifted(const std::vector<float>& past, const std::vector<int64_t>& observed, int64_t period) {
  ForecastShape shape;
  shape.series = {1};
  shape.lookback = 7;
  shape.horizon = 5;
  shape.missing = true;
  auto model = make_forecaster(config_of("seasonal-drift", {"period=" + std::to_string(period)}), shape, 1);
  ForecastInput input;
  input.past = at::tensor(past).view({1, 1, 7});
  input.observed = at::tensor(observed).to(at::kBool).view({1, 1, 7});
  return model->forward(input).flatten();
}

TEST(SeasonalDrift, AddsTheMeanStepBetweenSeasonsForEachSeasonAhead) {
  const std::vector<float> past = {1, 5, 3, 3, 9, 4, 8};
  const std::vector<int64_t> all(7, 1);
  // Steps over 3 rows: 2, 4, 1, 5; their mean is 3. The last season is 9, 4, 8.
  EXPECT_TRUE(same_bits(drifted(past, all, 3), at::tensor({12.f, 7.f, 11.f, 15.f, 10.f})));
  // A period of 1: the line through the first and the last value, slope 7/6.
  EXPECT_LT((drifted(past, all, 1) - (8 + at::arange(1, 6) * 7 / 6.0)).abs().max().item<double>(), 1e-6);
  // A period of the whole lookback leaves no two seasons, so no drift.
  EXPECT_TRUE(same_bits(drifted(past, all, 7), at::tensor({1.f, 5.f, 3.f, 3.f, 9.f})));
}

TEST(SeasonalDrift, GoesOnFromTheSeasonInWhichAPhaseWasSeen) {
  const std::vector<float> past = {1, 5, 3, 3, 9, 4, 8};
  // Without row 5 the steps are 2, 4 and 5, mean 11/3; its phase was observed at row 2, two seasons before.
  const at::Tensor out = drifted(past, {1, 1, 1, 1, 1, 0, 1}, 3);
  const double drift = 11.0 / 3;
  EXPECT_LT((out - at::tensor({9 + drift, 3 + 2 * drift, 8 + drift, 9 + 2 * drift, 3 + 3 * drift}))
                .abs()
                .max()
                .item<double>(),
            1e-5);
  // No phase is observed in two seasons: no drift; a phase never observed is the last value.
  EXPECT_TRUE(same_bits(drifted(past, {0, 0, 0, 0, 0, 1, 1}, 3), at::tensor({8.f, 4.f, 8.f, 8.f, 4.f})));
}

TEST(Repeat, TakesTheLastObservedValue) {
  ForecastShape shape;
  shape.series = {2};
  shape.lookback = 3;
  shape.horizon = 2;
  shape.missing = true;
  auto model = make_forecaster(config_of("repeat"), shape, 1);
  ForecastInput input;
  input.past = at::arange(6, at::kFloat).view({1, 2, 3});
  input.observed = at::tensor({1, 1, 0, 0, 0, 0}, at::kLong).to(at::kBool).view({1, 2, 3});
  EXPECT_TRUE(same_bits(model->forward(input).flatten(), at::tensor({1.f, 1.f, 0.f, 0.f})));
}

}  // namespace
}  // namespace modewise::models
