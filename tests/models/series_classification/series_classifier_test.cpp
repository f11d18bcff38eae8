// Series classifiers: values computed by hand, attention against the series without padding, masks, options.

#include "modewise/models/series_classification/series_classifier.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <limits>

#include "modewise/core/error.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/nn/layers/dropout.h"
#include "tests/error_of.h"
#include "tests/models/noise_oracle.h"

namespace modewise::models {
namespace {

using testing::HasSubstr;

SeriesModelConfig settings(const std::vector<std::string>& list) {
  return configured<SeriesModelConfig>(list);
}

std::string config_error(const std::vector<std::string>& list, const SeriesShape& shape) {
  try {
    validate(settings(list), shape);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  return "no error";
}

/// Samples of lengths 33, 17 and 5, padded to 33 steps.
ClassifierInput padded_input(int64_t variables) {
  const at::Tensor lengths = at::tensor(std::vector<int64_t>{33, 17, 5}, at::kLong);
  const at::Tensor valid = at::arange(33).unsqueeze(0).lt(lengths.unsqueeze(1));
  at::Tensor values = noise(1, {3, variables, 33}).to(at::kFloat) * 4;
  return {values.masked_fill(valid.logical_not().unsqueeze(1), 0), valid};
}

TEST(SeriesClassifier, NearestSampleIsTheNearest) {
  const SeriesShape shape = {1, 2, 2, false, 3};
  const auto model = make_series_classifier(settings({"name=nearest"}), shape, 1);
  const at::Tensor samples = at::tensor(std::vector<double>{0, 0, 3, 4, 10, 0}, at::kFloat).view({3, 1, 2});
  model->remember({samples, {}}, at::tensor(std::vector<int64_t>{0, 1, 0}, at::kLong));
  const at::Tensor out = model->forward({at::zeros({1, 1, 2}), {}});
  EXPECT_EQ(out[0][0].item<double>(), 0);
  EXPECT_EQ(out[0][1].item<double>(), -5);
}

TEST(SeriesClassifier, LinearMapsOfSeasonAndTrendTellARampByHand) {
  const at::NoGradGuard no_grad;
  const auto model = make_series_classifier(settings({"name=dlinear", "dlinear.kernel=3"}), {1, 3, 2}, 1);
  for (auto& item : model->named_parameters())
    item.value().fill_(item.key() == "trend.weight" ? 2 : item.key() == "seasonal.weight" ? 1 : 0);
  // 0 3 6: the trend with replicate padding is 1 3 5, the season −1 0 1.
  const at::Tensor out =
      model->forward({at::tensor(std::vector<double>{0, 3, 6}, at::kFloat).view({1, 1, 3}), {}});
  EXPECT_FLOAT_EQ(out[0][0].item<double>(), 18);
}

class EverySeriesModel : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(EverySeriesModel, IgnoresOtherSamplesAndKeepsItsBits) {
  const at::NoGradGuard no_grad;
  std::vector<std::string> list = GetParam();
  const SeriesShape shape = {2, 33, 3, true, 4};
  const auto model = make_series_classifier(settings(list), shape, 7);
  const auto again = make_series_classifier(settings(list), shape, 7);
  model->eval();
  again->eval();
  const ClassifierInput input = padded_input(2);
  if (model->remembers()) {
    const at::Tensor samples = noise(5, {4, 2, 33}).to(at::kFloat), labels = at::arange(4).remainder(3);
    model->remember({samples, {}}, labels);
    again->remember({samples, {}}, labels);
  }
  const at::Tensor out = model->forward(input);
  EXPECT_EQ(out.sizes(), (std::vector<int64_t>{3, 3}));
  EXPECT_TRUE(at::isfinite(out).all().item<bool>());
  EXPECT_TRUE(at::equal(out, again->forward(input)));
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_LT(largest(model->forward({input.values.narrow(0, i, 1), input.valid.narrow(0, i, 1)}) -
                      out.narrow(0, i, 1)),
              1e-5);
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       model->forward({input.values.narrow(2, 0, 7), {}});
                     }),
            "expected series [B, 2, 33], got [3, 2, 7]");
}

TEST_P(EverySeriesModel, IgnoresTheValuesOfThePadding) {
  const at::NoGradGuard no_grad;
  const ClassifierInput input = padded_input(2);
  const auto logits = [&](double padding) {
    const auto model = make_series_classifier(settings(GetParam()), {2, 33, 3, true, 3}, 7);
    model->eval();
    const ClassifierInput given{input.values.masked_fill(input.valid.logical_not().unsqueeze(1), padding),
                                input.valid};
    if (model->remembers()) model->remember(given, at::arange(3));
    return model->forward(given);
  };
  const at::Tensor wanted = logits(0);
  for (const double padding : {1000.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(at::equal(logits(padding), wanted)) << padding;
}

TEST_P(EverySeriesModel, HasAGradientForEveryParameter) {
  const std::vector<std::string> list = GetParam();
  const auto model = make_series_classifier(settings(list), {2, 33, 3, true, 4}, 7);
  if (model->parameters().empty()) return;
  nn::set_dropout_step(*model, 1, 2);
  model->forward(padded_input(2)).square().sum().backward();
  for (const auto& item : model->named_parameters())
    EXPECT_TRUE(item.value().grad().defined() && at::isfinite(item.value().grad()).all().item<bool>())
        << item.key();
}

const std::vector<std::string> small_patches = {"width=8", "heads=2", "hidden=12", "patch.length=4",
                                                "patch.stride=2"};
std::vector<std::string> with(std::vector<std::string> list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

INSTANTIATE_TEST_SUITE_P(
    Series, EverySeriesModel,
    testing::Values(
        small_patches, with(small_patches, {"attention.type=axial", "patch.channels=independent"}),
        with(small_patches, {"attention.type=axial", "attention.fold=[0, 3, 2]", "head.pooling=flatten"}),
        with(small_patches, {"attention.type=summary", "attention.summary_tokens=2", "head.pooling=mean"}),
        with(small_patches, {"attention.type=axial", "attention.order=1"}),
        with(small_patches, {"attention.type=pooled"}),
        with(small_patches, {"attention.type=window", "attention.density=0.3"}),
        with(small_patches, {"attention.type=topk", "attention.density=0.3"}),
        with(small_patches, {"attention.type=linformer"}),
        with(small_patches, {"attention.type=nystroemformer", "attention.landmarks=3"}),
        with(small_patches, {"attention.type=reformer", "attention.chunk=3"}),
        std::vector<std::string>{"name=shapelet-forest"},
        std::vector<std::string>{"name=minirocket", "minirocket.features=84"},
        std::vector<std::string>{"name=nearest"}, std::vector<std::string>{"name=dlinear"},
        std::vector<std::string>{"name=tcn", "convolution.width=5", "tcn.kernel=3"},
        std::vector<std::string>{"name=resnet", "convolution.width=4"}));

TEST(SeriesModelConfig, RefusesWhatHasNoEffectOrDoesNotFit) {
  const SeriesShape shape = {2, 33, 3, true, 4};
  EXPECT_EQ(config_error({}, shape), "no error");
  EXPECT_THAT(config_error({"name=tcn", "heads=2"}, shape),
              HasSubstr("heads = 2 has no effect: model 'tcn'"));
  EXPECT_THAT(config_error({"attention.fold=[4, 4]"}, shape), HasSubstr("fold has no effect"));
  EXPECT_THAT(config_error({"attention.summary_tokens=2"}, shape), HasSubstr("summary_tokens has no effect"));
  EXPECT_THAT(config_error({"attention.type=axial", "attention.fold=[1, 2]"}, shape),
              HasSubstr("has 2 cells, but the sequence has 4 tokens"));
  EXPECT_THAT(config_error({"attention.type=axial", "attention.fold=[4, 0]"}, shape),
              HasSubstr("only the first may be 0"));
  EXPECT_THAT(
      config_error({"attention.type=axial", "attention.fold=[2147483647, 2147483647, 2147483647]"}, shape),
      HasSubstr("exceeds 62 bits"));
  EXPECT_THAT(config_error({"attention.type=summary", "attention.fold=[0, 4]", "attention.window=3"}, shape),
              HasSubstr("could not be attended to"));
  EXPECT_EQ(config_error({"attention.type=axial", "attention.fold=[0, 8]"}, shape),
            "model: 4 tokens do not fill attention.fold [0, 8]: the sizes after the first already hold 8, so "
            "no token would attend along the first mode");
  EXPECT_EQ(config_error({"attention.type=axial", "attention.fold=[4]", "attention.order=2"}, shape),
            "model: attention.order = 2 exceeds the number of modes of attention.fold [4]");
  EXPECT_EQ(config_error({"attention.type=window", "attention.window=2", "attention.density=0.5"}, shape),
            "model: attention.window = 2 and attention.density = 0.5 both set the number of attended tokens; "
            "give one");
  EXPECT_EQ(config_error({"attention.type=nystroemformer", "attention.kernel=4"}, shape),
            "model: attention.kernel must be odd or 0, got 4");
  EXPECT_EQ(config_error({"attention.type=linformer", "attention.projected=5"}, shape),
            "model: attention.projected = 5 exceeds the 4 tokens of the sequence");
  EXPECT_EQ(
      config_error({"attention.type=topk", "attention.density=0"}, shape),
      "model: attention.density must be above 0: with 0 a token would attend to nothing, not even itself");
  EXPECT_EQ(config_error({"attention.type=reformer", "attention.landmarks=5"}, shape),
            "model: attention.landmarks has no effect with attention.type = \"reformer\"");
  EXPECT_THAT(config_error({"width=9"}, shape), HasSubstr("multiple of heads"));
  EXPECT_THAT(config_error({"patch.length=40"}, shape), HasSubstr("longer than the series"));
  EXPECT_THAT(config_error({"patch.length=4", "patch.stride=5"}, shape), HasSubstr("skips steps"));
  EXPECT_THAT(config_error({"name=dlinear", "dlinear.kernel=4"}, shape), HasSubstr("must be odd"));
  EXPECT_EQ(settings({"patch.length=4", "patch.stride=2"}).tokens(33), 16);
  EXPECT_EQ(title_of(settings({"attention.type=axial", "attention.fold=[0, 8]"})), "patchtst axial 0·8");
}

}  // namespace
}  // namespace modewise::models
