// Ensembles: greedy weights against the errors, forecasts against the members', error messages.

#include "modewise/models/forecasting/ensemble.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "modewise/core/error.h"

namespace modewise::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string member(const std::string& name, int64_t lookback, const std::vector<std::string>& settings = {}) {
  EnsembleMember one;
  one.lookback = lookback;
  Fields fields = fields_of(one);
  fields.set("model.name=" + name);
  for (const std::string& setting : settings) fields.set("model." + setting);
  return one.to_toml();
}

ForecasterConfig ensemble_of(const std::vector<std::string>& members) {
  ForecasterConfig config;
  config.use_model("ensemble");
  config.name = "ensemble";
  config.ensemble.members = members;
  return config;
}

ForecastShape shape_of(int64_t lookback, int64_t quantiles = 0, bool missing = false) {
  return {{3}, {false}, lookback, 4, quantiles, missing};
}

std::string refusal(const ForecasterConfig& config, const ForecastShape& shape) {
  try {
    make_forecaster(config, shape, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

/// Greedy weights by trying each member beside the picks so far; `norm` of the mean error of the picks.
std::vector<double> written_out(const at::Tensor& errors, int64_t picks, double (*norm)(const at::Tensor&)) {
  std::vector<int64_t> bag;
  std::vector<double> best;
  double minimum = std::numeric_limits<double>::infinity();
  for (int64_t pick = 0; pick < picks; ++pick) {
    std::vector<double> tried;
    for (int64_t m = 0; m < errors.size(0); ++m) {
      at::Tensor sum = errors[m].clone();
      for (const int64_t one : bag) sum += errors[one];
      tried.push_back(norm(sum / static_cast<double>(bag.size() + 1)));
    }
    const auto lowest = std::min_element(tried.begin(), tried.end());
    bag.push_back(lowest - tried.begin());
    if (*lowest >= minimum) continue;
    minimum = *lowest;
    best.assign(static_cast<size_t>(errors.size(0)), 0);
    for (const int64_t one : bag) best[static_cast<size_t>(one)] += 1 / static_cast<double>(bag.size());
  }
  return best;
}

TEST(GreedyWeights, AreThoseOfTheErrorsWrittenOut) {
  at::manual_seed(3);
  for (const int64_t picks : {1, 2, 7, 40}) {
    const at::Tensor errors = at::randn({5, 60}, at::kDouble) + at::rand({5, 1}, at::kDouble);
    const std::vector<double> squares = written_out(
        errors, picks, [](const at::Tensor& error) { return error.square().sum().item<double>(); });
    const std::vector<double> weights = greedy_weights(at::matmul(errors, errors.t()), picks);
    for (size_t m = 0; m < 5; ++m) EXPECT_DOUBLE_EQ(weights[m], squares[m]) << picks << " " << m;
    const at::Tensor narrow = errors.to(at::kFloat);
    const std::vector<double> absolute =
        written_out(narrow.to(at::kDouble), picks,
                    [](const at::Tensor& error) { return error.abs().sum().item<double>(); });
    const std::vector<double> mixed = greedy_absolute_weights(narrow, picks);
    for (size_t m = 0; m < 5; ++m) EXPECT_DOUBLE_EQ(mixed[m], absolute[m]) << picks << " " << m;
  }
}

TEST(GreedyWeights, TakeTheFirstOfEqualsAndStopWhereNothingHelps) {
  const at::Tensor same = at::full({3, 3}, 2.0, at::kDouble);
  EXPECT_THAT(greedy_weights(same, 9), ElementsAre(1, 0, 0));
  // Errors (1, 0) and (0, 2): weights 4 : 1 are best, and reached with five picks.
  const at::Tensor apart = at::tensor({1.0, 0.0, 0.0, 4.0}, at::kDouble).view({2, 2});
  EXPECT_THAT(greedy_weights(apart, 5), ElementsAre(0.8, 0.2));
}

TEST(WeightsOverSplits, AreThoseOfAllSplitsUnlessOneMemberDoesBetterWhereItWasNotChosen) {
  const auto gram = [](double a, double product, double b) {
    return at::tensor({a, product, product, b}, at::kDouble).view({2, 2});
  };
  // Opposite errors cancel on both splits: halves leave (1 + 1 − 2 · 0.9) / 4 and (2 + 2 − 2 · 1.8) / 4.
  const SplitWeights halves = weights_over_splits({gram(1, -0.9, 1), gram(2, -1.8, 2)}, 2);
  EXPECT_THAT(halves.weights, ElementsAre(0.5, 0.5));
  EXPECT_NEAR(halves.mixed, (0.05 + 0.1) / 2, 1e-14);
  EXPECT_EQ(halves.single, (1.0 + 2.0) / 2);
  // The second split alone selects the second member only (error 2 on the first split), the first split alone
  // an equal mix; a single member would be the second for one split and the first for the other.
  const SplitWeights one = weights_over_splits({gram(1.9, 0.2, 2), gram(9, 8.9, 1)}, 2);
  EXPECT_EQ(one.single, (2.0 + 9.0) / 2);
  EXPECT_DOUBLE_EQ(one.mixed, (2.0 + 0.25 * (9 + 1 + 2 * 8.9)) / 2);
  EXPECT_THAT(one.weights, ElementsAre(0, 1));
  // The mix chosen on the first split is worse on the second than the single member chosen on it. It loses
  // 5.5 there and nothing on the first: 2.75 on average, which does not exceed the standard error of the two.
  const SplitWeights alone = weights_over_splits({gram(1, -0.9, 1.2), gram(1, 4, 17)}, 2);
  EXPECT_EQ(alone.single, 1);
  EXPECT_DOUBLE_EQ(alone.mixed, (1 + 0.25 * (1 + 17 + 2 * 4)) / 2);
  EXPECT_THAT(alone.weights, ElementsAre(1, 0));
  // The first split mixes the first two of three members, the second split the first and the third: both lose
  // .5 on the other split, without variance. Both splits together would give the mix (.5, .5, 0).
  const auto of_three = [](std::initializer_list<double> values) {
    return at::tensor(std::vector<double>(values), at::kDouble).view({3, 3});
  };
  const at::Tensor first = of_three({1, -0.9, 0, -0.9, 1.1, 0, 0, 0, 5}),
                   second = of_three({1, 0, -0.9, 0, 5, 0, -0.9, 0, 1.1});
  EXPECT_THAT(greedy_weights(first + second, 2), ElementsAre(0.5, 0.5, 0));
  const SplitWeights surely = weights_over_splits({first, second}, 2);
  EXPECT_DOUBLE_EQ(surely.mixed - surely.single, 0.5);
  EXPECT_THAT(surely.weights, ElementsAre(1, 0, 0));
  // A third split that differs only by a loss of one member makes the difference uncertain: .5, .5 and -2.
  const at::Tensor third = of_three({4, 0, 0, 0, 4, 0, 0, 0, 4});
  const SplitWeights unsure = weights_over_splits({first, second, third}, 2);
  EXPECT_LT(unsure.single, unsure.mixed + 0.5);
  EXPECT_THAT(unsure.weights, ElementsAre(0.5, 0.5, 0));
}

TEST(Ensemble, IsTheWeightedMeanOfItsMembersOnTheirOwnLookbacks) {
  at::manual_seed(5);
  for (const int64_t quantiles : {0, 3}) {
    const auto model = std::dynamic_pointer_cast<EnsembleForecaster>(
        make_forecaster(ensemble_of({member("dlinear", 8, {"dlinear.kernel=3"}),
                                     member("seasonal", 12, {"period=4"}), member("nlinear", 6)}),
                        shape_of(12, quantiles), 7));
    ASSERT_EQ(model->members(), 3);
    model->eval();
    const at::NoGradGuard no_grad;
    for (auto& item : model->named_buffers())
      if (item.key() == "weights") item.value().copy_(at::tensor({0.5, 0.0, 0.5}, at::kDouble));
    const ForecastInput input = {at::randn({2, 3, 12}), {}, at::arange(2)};
    const at::Tensor first =
                         model->member(0).forward({input.past.narrow(-1, 4, 8), {}, input.first_step + 4}),
                     third =
                         model->member(2).forward({input.past.narrow(-1, 6, 6), {}, input.first_step + 6});
    EXPECT_TRUE(at::equal(model->forward(input), first * 0.5 + third * 0.5));
    for (const at::Tensor& parameter : model->parameters()) EXPECT_FALSE(parameter.requires_grad());
  }
}

TEST(Ensemble, FindsTheMemberThatIsRight) {
  const auto model = std::dynamic_pointer_cast<EnsembleForecaster>(make_forecaster(
      ensemble_of({member("repeat", 4), member("seasonal", 12, {"period=6"})}), shape_of(12), 1));
  FittingRows rows;
  rows.values = at::sin(at::arange(90, at::kFloat) * (2 * std::numbers::pi / 6)).view({1, 90}).repeat({3, 1});
  rows.last = 50;
  for (int64_t i = 40; i < 74; ++i) rows.validation.push_back(i);
  model->fit(rows);
  EXPECT_THAT(model->weights(), ElementsAre(0, 1));
  // Missing cells do not count: seasonal is right only on the last cells, repeat on none.
  rows.observed = at::zeros({3, 90}, at::kBool);
  rows.observed.narrow(1, 0, 52).fill_(true);
  rows.values.narrow(1, 52, 38).fill_(1e6);
  rows.validation = {38, 39};
  const auto masked = std::dynamic_pointer_cast<EnsembleForecaster>(make_forecaster(
      ensemble_of({member("repeat", 4), member("seasonal", 12, {"period=6"})}), shape_of(12, 0, true), 1));
  masked->fit(rows);
  EXPECT_THAT(masked->weights(), ElementsAre(0, 1));
}

TEST(Ensemble, WithoutValidationWeighsAllAlike) {
  const auto model = std::dynamic_pointer_cast<EnsembleForecaster>(
      make_forecaster(ensemble_of({member("repeat", 4), member("repeat", 8)}), shape_of(12), 1));
  model->fit({});
  EXPECT_THAT(model->weights(), ElementsAre(0.5, 0.5));
}

TEST(Ensemble, MembersComeBackFromTheirText) {
  EnsembleMember one;
  one.lookback = 30;
  Fields fields = fields_of(one);
  for (const char* setting :
       {"model.name=patchtst", "model.width=24", "model.heads=3", "model.window.cycle=7"})
    fields.set(setting);
  const EnsembleMember again = EnsembleMember::from_toml(one.to_toml(), "text");
  EXPECT_EQ(again.to_toml(), one.to_toml());
  EXPECT_EQ(again.model.width, 24);
  EXPECT_EQ(again.model.hidden, 256);  // the authors' value
  // As a multi-line string within a config.
  ForecasterConfig config = ensemble_of({one.to_toml(), member("repeat", 4)}), read;
  fields_of(read).load_toml(fields_of(config).to_toml(), "config");
  EXPECT_EQ(read.ensemble.members, config.ensemble.members);
}

TEST(Ensemble, RefusesWhatIsNone) {
  EXPECT_EQ(refusal(ensemble_of({}), shape_of(12)), "model: ensemble.members is empty");
  EXPECT_EQ(refusal(ensemble_of({member("repeat", 13)}), shape_of(12)),
            "model: ensemble.members, member 1: its lookback of 13 rows exceeds the ensemble's, 12");
  EXPECT_THAT(refusal(ensemble_of({member("repeat", 4), "[model]\nwidth = 'x'\n"}), shape_of(12)),
              HasSubstr("ensemble.members, member 2"));
  EXPECT_THAT(refusal(ensemble_of({"[model]\nname = 'ensemble'\n"}), shape_of(96)),
              HasSubstr("an ensemble cannot contain an ensemble"));
  EXPECT_THAT(refusal(ensemble_of({member("patchtst", 4)}), shape_of(12)),
              HasSubstr("longer than the lookback of 4"));
}

}  // namespace
}  // namespace modewise::models
