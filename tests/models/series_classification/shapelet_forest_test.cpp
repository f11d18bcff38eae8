// Shapelet forest against a plain Python implementation: vectors/make_forest_vectors.py grows the same trees
// from the same random numbers and records their votes.

#include "modewise/models/series_classification/shapelet_forest.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/models/series_classification/shapelet_distance.h"
#include "tests/models/noise_oracle.h"

namespace modewise::models {
namespace {

nlohmann::json record() {
  static const nlohmann::json read = nlohmann::json::parse(
      read_file(std::string(MODEWISE_SOURCE_DIR) + "/tests/models/vectors/shapelet_forest.json"));
  return read;
}

constexpr int64_t kSteps = 17;

ClassifierInput input_of(const nlohmann::json& samples, const nlohmann::json& steps) {
  ClassifierInput out = {at::zeros({std::ssize(samples), 2, kSteps}),
                         at::zeros({std::ssize(samples), kSteps}, at::kBool)};
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const auto count = steps[i].get<int64_t>();
    out.values[row]
        .narrow(1, 0, count)
        .copy_(at::tensor(samples[i].get<std::vector<double>>(), at::kDouble).view({2, count}));
    out.valid[row].narrow(0, 0, count).fill_(true);
  }
  return out;
}

std::shared_ptr<SeriesClassifier> grown() {
  const nlohmann::json r = record();
  SeriesModelConfig config;
  config.name = "shapelet-forest";
  config.shapelet_forest = {r["settings"]["trees"], r["settings"]["shapelets"], r["settings"]["shortest"],
                            r["settings"]["longest"]};
  auto model = make_series_classifier(config, {2, kSteps, 3, true, std::ssize(r["labels"])}, 5);
  model->remember(input_of(r["cases"], r["steps"]),
                  at::tensor(r["labels"].get<std::vector<int64_t>>(), at::kLong));
  return model;
}

TEST(ShapeletDistance, IsThatOfItsDefinition) {
  const nlohmann::json r = record();
  for (const auto& pair : r["distances"]) {
    const auto shapelet = pair["shapelet"].get<std::vector<float>>(),
               series = pair["series"].get<std::vector<float>>();
    EXPECT_NEAR(shapelet_distance(shapelet, series), pair["distance"].get<double>(), 1e-10);
  }
}

/// The definition, subsequence by subsequence, in long double.
double distance_by_definition(const std::vector<float>& shapelet, const std::vector<float>& series) {
  const auto normal = [](const float* values, size_t count) {
    long double mean = 0, square = 0;
    for (size_t i = 0; i < count; ++i) mean += values[i];
    mean /= static_cast<long double>(count);
    for (size_t i = 0; i < count; ++i) square += (values[i] - mean) * (values[i] - mean);
    const long double stddev = std::sqrt(square / static_cast<long double>(count));
    std::vector<long double> out(count, 0);
    if (stddev > 1e-6L * std::sqrt(mean * mean + stddev * stddev))
      for (size_t i = 0; i < count; ++i) out[i] = (values[i] - mean) / stddev;
    return out;
  };
  const auto wanted = normal(shapelet.data(), shapelet.size());
  long double minimum = INFINITY;
  for (size_t first = 0; first + shapelet.size() <= series.size(); ++first) {
    const auto other = normal(series.data() + first, shapelet.size());
    long double sum = 0;
    for (size_t i = 0; i < other.size(); ++i) sum += (wanted[i] - other[i]) * (wanted[i] - other[i]);
    minimum = std::min(minimum, sum / static_cast<long double>(shapelet.size()));
  }
  return static_cast<double>(std::sqrt(minimum));
}

std::vector<float> noisy(uint64_t number, int64_t steps) {
  const at::Tensor values = noise(number, {steps}).to(at::kFloat);
  return {values.const_data_ptr<float>(), values.const_data_ptr<float>() + steps};
}

/// Compares with the definition, and checks equal bits with direct sums and with FFTs.
void expect_distance(const char* name, const std::vector<float>& shapelet, const std::vector<float>& series,
                     double tolerance) {
  EXPECT_NEAR(shapelet_distance(shapelet, series), distance_by_definition(shapelet, series), tolerance)
      << name;
  const int64_t transform = std::bit_ceil(series.size());
  const double sums = SearchedShapelet(shapelet, 0).distance(SearchedSeries(series, 0));
  EXPECT_EQ(SearchedShapelet(shapelet, transform).distance(SearchedSeries(series, transform)), sums) << name;
  EXPECT_EQ(SearchedShapelet(shapelet, 4 * transform).distance(SearchedSeries(series, 4 * transform)), sums)
      << name;
}

TEST(ShapeletDistance, OfLongOnesIsThatOfTheDefinition) {
  const std::vector<float> shapelet = noisy(1, 333), series = noisy(2, 1501);
  ASSERT_GT(transform_steps(333, 1501), 0);
  expect_distance("noise", shapelet, series, 1e-12);
  expect_distance("a step", noisy(1, 1), series, 1e-12);
  expect_distance("all of it", noisy(3, 1501), series, 1e-12);
  std::vector<float> other = series;
  for (size_t i = 0; i < 333; ++i) other[700 + i] = 3 * shapelet[i] + 5 + 1e-3F * series[i];
  expect_distance("part of it", shapelet, other, 1e-9);
  for (float& value : other) value += 1000;
  expect_distance("far from 0", shapelet, other, 1e-7);
  other = series;
  for (size_t i = 0; i < 400; ++i) other[i] *= 1e6F;
  expect_distance("of two sizes", shapelet, other, 1e-9);
  for (size_t i = 400; i < 800; ++i) other[i] = 0.1F;
  expect_distance("with a flat part", shapelet, other, 1e-9);
  expect_distance("a flat shapelet", std::vector<float>(333, 0.1F), other, 0);
  expect_distance("a flat shapelet in noise", std::vector<float>(333, 0.1F), series, 0);
  expect_distance("a flat series", shapelet, std::vector<float>(1501, 0.1F), 0);
  for (size_t i = 0; i < other.size(); ++i) other[i] = static_cast<float>(i % 7);
  expect_distance("waves", shapelet, other, 1e-12);
  expect_distance("waves in waves", {other.begin() + 3, other.begin() + 300}, other, 1e-7);
}

TEST(ShapeletDistance, OfStretchesEquallyNearHasTheBitsOfTheirSums) {
  // A mirrored shapelet in a mirrored series: two nearest subsequences, whose sums round differently.
  const auto flipped = [](std::vector<float> half) {
    const std::vector<float> other(half.rbegin(), half.rend());
    half.insert(half.end(), other.begin(), other.end());
    return half;
  };
  for (uint64_t seed = 1; seed <= 9; ++seed)
    expect_distance("mirrored", flipped(noisy(seed, 166)), flipped(noisy(seed + 20, 750)), 1e-12);
}

TEST(ShapeletForest, GrowsAndVotesAsItsWritingInPython) {
  const nlohmann::json r = record();
  const auto model = grown();
  const at::Tensor logits = model->forward(input_of(r["new"], r["new_steps"]));
  const auto trees = r["settings"]["trees"].get<double>();
  for (size_t i = 0; i < r["votes"].size(); ++i)
    for (int64_t k = 0; k < 3; ++k) {
      const auto votes = r["votes"][i].get<std::vector<int64_t>>();
      const auto count = static_cast<double>(std::count(votes.begin(), votes.end(), k));
      EXPECT_NEAR(logits[static_cast<int64_t>(i)][k].item<double>(),
                  std::log((count + 1.0 / 3) / (trees + 1)), 1e-6)
          << i << ", class " << k;
    }
  const at::Tensor children = model->named_buffers()["children"];
  for (int64_t tree = 0; tree < children.size(0); ++tree)
    EXPECT_EQ(children[tree].max().item<int64_t>() + 2, r["nodes"][static_cast<size_t>(tree)].get<int64_t>());
}

TEST(ShapeletForest, IsItsBuffers) {
  const nlohmann::json r = record();
  const auto first = grown();
  SeriesModelConfig config;
  config.name = "shapelet-forest";
  config.shapelet_forest.trees = r["settings"]["trees"];
  const auto second = make_series_classifier(config, first->shape(), 9);
  const at::NoGradGuard no_grad;
  for (auto& item : second->named_buffers()) item.value().copy_(first->named_buffers()[item.key()]);
  const ClassifierInput input = input_of(r["new"], r["new_steps"]);
  EXPECT_TRUE(second->forward(input).equal(first->forward(input)));
}

TEST(ShapeletForest, RefusesLengthsThatCross) {
  SeriesModelConfig config;
  config.name = "shapelet-forest";
  config.shapelet_forest.shortest = 0.5, config.shapelet_forest.longest = 0.25;
  try {
    validate(config, {1, 9, 2, false, 4});
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "model: shapelet-forest.shortest = 0.5 is above shapelet-forest.longest = 0.25");
  }
}

}  // namespace
}  // namespace modewise::models
