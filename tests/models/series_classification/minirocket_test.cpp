// MiniRocket against aeon, its classifier against scikit-learn (vectors/make_ridge_vectors.py).

#include "modewise/models/series_classification/minirocket.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/models/series_classification/ridge_classifier.h"
#include "tests/models/read_vectors.h"

namespace modewise::models {
namespace {

std::vector<float> floats_of(const nlohmann::json& json) {
  return json.get<std::vector<float>>();
}

std::vector<double> doubles_of(const at::Tensor& x) {
  const at::Tensor flat = x.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

TEST(MiniRocket, DilationsAndQuantilesAreThoseOfAeon) {
  const nlohmann::json record = read_vectors("minirocket.json");
  for (const auto& one : record["dilations"]) {
    const RocketDilations made = rocket_dilations(one["steps"], one["features"]);
    EXPECT_EQ(made.dilations, one["dilations"].get<std::vector<int64_t>>()) << one["steps"];
    EXPECT_EQ(made.features, one["counts"].get<std::vector<int64_t>>()) << one["steps"];
  }
  const std::vector<float> quantiles = floats_of(record["quantiles"]);
  for (size_t i = 0; i < quantiles.size(); ++i)
    EXPECT_EQ(rocket_quantile(static_cast<int64_t>(i)), quantiles[i]) << i;
}

TEST(MiniRocket, ConvolutionAndBiasesAreThoseOfTheFormula) {
  const nlohmann::json one = read_vectors("minirocket.json")["convolution"];
  const std::vector<float> x = floats_of(one["values"]);
  const std::vector<int64_t> only = {0};
  std::vector<float> made(x.size());
  RocketConvolution({x.data(), std::ssize(x), std::ssize(x)}, only, one["dilation"])
      .apply(one["kernel"], only, made);
  expect_near({made.begin(), made.end()}, numbers(one["made"]), 1e-6, "convolution");
  std::sort(made.begin(), made.end());
  std::vector<double> biases;
  for (int64_t i = 0; i < 6; ++i) biases.push_back(rocket_bias(made, rocket_quantile(i)));
  expect_near(biases, numbers(one["biases"]), 1e-6, "biases");
}

TEST(MiniRocket, FeaturesAreThoseOfAeon) {
  const nlohmann::json record = read_vectors("minirocket.json");
  for (const auto& one : record["features"]) {
    const int64_t variables = one["variables"], steps = one["steps"];
    const std::vector<float> values = floats_of(one["values"]), biases = floats_of(one["biases"]);
    const RocketDilations dilations = rocket_dilations(steps, one["features"]);
    std::vector<std::vector<int64_t>> channels;
    size_t at = 0;
    for (const int64_t count : one["channels"].get<std::vector<int64_t>>()) {
      channels.emplace_back();
      for (int64_t i = 0; i < count; ++i) channels.back().push_back(one["indices"][at++]);
    }
    std::vector<double> made;
    std::vector<float> features(biases.size());
    for (int64_t i = 0; i < 2; ++i) {
      rocket_features({values.data() + i * variables * steps, steps, steps}, dilations, channels, biases,
                      features);
      made.insert(made.end(), features.begin(), features.end());
    }
    expect_near(made, numbers(one["made"]), 1e-6, "features");
  }
}

TEST(MiniRocket, AFeatureWhoseEndsLeaveNoStepIsZero) {
  EXPECT_EQ(rocket_steps(20, 0, 2, 0).begin, 0);
  EXPECT_EQ(rocket_steps(20, 0, 2, 0).end, 20);
  EXPECT_EQ(rocket_steps(20, 1, 2, 0).begin, 8);
  EXPECT_EQ(rocket_steps(20, 1, 2, 0).end, 12);
  EXPECT_EQ(rocket_steps(20, 0, 2, 1).end, 12);
  const RocketSteps none = rocket_steps(7, 1, 1, 0);
  EXPECT_EQ(none.begin, none.end);
  const RocketDilations dilations = rocket_dilations(17, 84);
  const std::vector<float> values(17, 1.0F), biases(84, -100.0F);
  const std::vector<std::vector<int64_t>> channels(84, {0});
  std::vector<float> features(84);
  rocket_features({values.data(), 17, 7}, dilations, channels, biases, features);
  for (size_t kernel = 0; kernel < 84; ++kernel)
    EXPECT_EQ(features[kernel], kernel % 2 == 0 ? 1 : 0) << kernel;
}

TEST(RidgeClassifier, IsThatOfScikitLearn) {
  const nlohmann::json record = read_vectors("minirocket.json");
  for (const auto& one : record["classifier"]) {
    const int64_t samples = one["cases"], classes = one["classes"];
    const at::Tensor x = at::tensor(numbers(one["x"]), at::kDouble).view({samples, -1});
    const at::Tensor y = at::tensor(one["y"].get<std::vector<int64_t>>(), at::kLong);
    std::vector<double> alphas;
    for (int i = 0; i < 10; ++i) alphas.push_back(std::pow(10.0, -3 + i * 6.0 / 9));
    const RidgeClassifier fit = fit_ridge_classifier(x, y, classes, alphas);
    EXPECT_DOUBLE_EQ(fit.alpha / one["alpha"].get<double>(), 1);
    expect_near(doubles_of(x.matmul(fit.weight.t()) + fit.bias), numbers(one["decisions"]), 1e-9,
                "decisions");
    expect_near(doubles_of(fit.left_out), numbers(one["left_out"]), 1e-9, "decisions of cases left out");
  }
}

TEST(RidgeClassifier, SharpnessIsThatOfTheSmallestCrossEntropy) {
  const at::Tensor decisions = at::tensor({1.0, -1.0, 0.5, -0.25}, at::kDouble).view({4, 1});
  const at::Tensor labels = at::tensor(std::vector<int64_t>{1, 0, 0, 1}, at::kLong);
  const at::Tensor logits = ridge_logits(decisions, 3);
  EXPECT_TRUE(logits.select(1, 0).equal(decisions.select(1, 0) * -1.5));
  EXPECT_TRUE(logits.select(1, 1).equal(decisions.select(1, 0) * 1.5));
  // Stationarity of the mean cross-entropy: Σ d (σ(s·d) − label) = 0.
  const double s = fit_sharpness(decisions, labels);
  const at::Tensor d = decisions.select(1, 0);
  EXPECT_NEAR((d * ((d * s).sigmoid() - labels.to(at::kDouble))).sum().item<double>(), 0, 1e-6);
  EXPECT_EQ(fit_sharpness(decisions, at::tensor(std::vector<int64_t>{0, 1, 1, 0}, at::kLong)),
            std::exp(std::log(0.1)));
  const at::Tensor three = at::randn({5, 3}, at::kDouble);
  EXPECT_TRUE(ridge_logits(three, 2).equal(three * 2));
}

/// Noise with a bump at a random position, positive in class 1 and negative in class 0.
std::pair<ClassifierInput, at::Tensor> hills(int64_t count, uint64_t seed, bool padded) {
  at::manual_seed(seed);
  ClassifierInput out;
  out.values = at::randn({count, 2, 65}) * 0.3;
  std::vector<int64_t> labels;
  if (padded) out.valid = at::ones({count, 65}, at::kBool);
  for (int64_t i = 0; i < count; ++i) {
    labels.push_back(i % 2);
    const int64_t place = 3 + i * 7 % 25;
    for (int64_t t = 0; t < 9; ++t)
      out.values[i][1][place + t] +=
          (i % 2 == 0 ? -1 : 1) * std::sin(3.14159 * static_cast<double>(t) / 8) * 2;
    if (!padded || i % 3 > 0) continue;
    out.values[i].narrow(1, 45, 20).fill_(0);
    out.valid[i].narrow(0, 45, 20).fill_(false);
  }
  return {out, at::tensor(labels, at::kLong)};
}

TEST(MiniRocket, LearnsByRemembering) {
  for (const bool padded : {false, true}) {
    const auto [samples, labels] = hills(40, 1, padded);
    const auto [others, truth] = hills(30, 2, padded);
    SeriesModelConfig config;
    config.name = "minirocket";
    config.minirocket.features = 500;
    const SeriesShape shape = {2, 65, 2, padded, 40};
    const auto model = make_series_classifier(config, shape, 3);
    EXPECT_TRUE(model->remembers());
    EXPECT_TRUE(model->parameters().empty());
    model->remember(samples, labels);
    const at::Tensor out = model->forward(others);
    EXPECT_GE(out.argmax(1).eq(truth).sum().item<int64_t>(), 29) << padded;
    // Padding has no effect.
    if (padded) {
      ClassifierInput junk = others;
      junk.values = others.values.clone();
      junk.values[0].narrow(1, 45, 20).fill_(1e6);
      EXPECT_TRUE(model->forward(junk).equal(out));
    }
    const auto again = make_series_classifier(config, shape, 3),
               other = make_series_classifier(config, shape, 4);
    again->remember(samples, labels);
    other->remember(samples, labels);
    EXPECT_TRUE(again->forward(others).equal(out));
    EXPECT_FALSE(other->forward(others).equal(out));
  }
}

TEST(MiniRocket, CombinationsDrawTheirVariablesOnce) {
  SeriesModelConfig config;
  config.name = "minirocket";
  const auto model = make_series_classifier(config, {12, 200, 3, false, 5}, 1);
  const at::Tensor channels = *model->named_buffers().find("channels");
  EXPECT_EQ(channels.size(0), 84 * 18);
  int64_t largest = 0, single = 0;
  for (int64_t i = 0; i < channels.size(0); ++i) {
    const at::Tensor some = channels[i].masked_select(channels[i].ge(0));
    std::vector<double> list = doubles_of(some);
    std::sort(list.begin(), list.end());
    EXPECT_EQ(std::adjacent_find(list.begin(), list.end()), list.end()) << i;
    EXPECT_LT(list.back(), 12);
    largest = std::max<int64_t>(largest, std::ssize(list));
    single += list.size() == 1 ? 1 : 0;
  }
  EXPECT_EQ(largest, 9);
  // 2^u < 2 where u < 1, of log2(10): 30 %.
  EXPECT_NEAR(static_cast<double>(single) / static_cast<double>(channels.size(0)), 1 / std::log2(10.0), 0.04);
  const auto one = make_series_classifier(config, {1, 33, 2, false, 5}, 1);
  EXPECT_EQ(one->named_buffers().find("channels")->amax().item<int64_t>(), 0);
}

TEST(MiniRocket, WantsNineSteps) {
  SeriesModelConfig config;
  config.name = "minirocket";
  try {
    make_series_classifier(config, {1, 8, 2, false, 5}, 1);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_EQ(std::string(error.what()),
              "model: minirocket's kernels are 9 steps long, but the series have 8");
  }
}

}  // namespace
}  // namespace modewise::models
