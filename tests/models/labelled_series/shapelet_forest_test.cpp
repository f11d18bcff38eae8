// The shapelet forest against its writing in plain Python: vectors/make_forest_vectors.py grows the same
// trees from the same random numbers and leaves their votes.

#include "modewise/models/labelled_series/shapelet_forest.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/models/labelled_series/shapelet_distance.h"

namespace modewise::models {
namespace {

nlohmann::json record() {
  static const nlohmann::json read = nlohmann::json::parse(
      read_file(std::string(MODEWISE_SOURCE_DIR) + "/tests/models/vectors/shapelet_forest.json"));
  return read;
}

constexpr int64_t kSteps = 17;

ClassifierInput input_of(const nlohmann::json& cases, const nlohmann::json& steps) {
  ClassifierInput out = {at::zeros({std::ssize(cases), 2, kSteps}),
                         at::zeros({std::ssize(cases), kSteps}, at::kBool)};
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const auto count = steps[i].get<int64_t>();
    out.values[row]
        .narrow(1, 0, count)
        .copy_(at::tensor(cases[i].get<std::vector<double>>(), at::kDouble).view({2, count}));
    out.valid[row].narrow(0, 0, count).fill_(true);
  }
  return out;
}

std::shared_ptr<SeriesClassifier> grown() {
  const nlohmann::json r = record();
  SeriesModelConfig config;
  config.name = "shapelet-forest";
  config.forest = {r["settings"]["trees"], r["settings"]["shapelets"], r["settings"]["shortest"],
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
    EXPECT_NEAR(shapelet_distance(shapelet, series), pair["distance"].get<double>(), 1e-6);
  }
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
  config.forest.trees = r["settings"]["trees"];
  const auto second = make_series_classifier(config, first->shape(), 9);
  const at::NoGradGuard no_grad;
  for (auto& item : second->named_buffers()) item.value().copy_(first->named_buffers()[item.key()]);
  const ClassifierInput input = input_of(r["new"], r["new_steps"]);
  EXPECT_TRUE(second->forward(input).equal(first->forward(input)));
}

TEST(ShapeletForest, RefusesLengthsThatCross) {
  SeriesModelConfig config;
  config.name = "shapelet-forest";
  config.forest.shortest = 0.5, config.forest.longest = 0.25;
  try {
    validate(config, {1, 9, 2, false, 4});
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "model: forest.shortest = 0.5 is above forest.longest = 0.25");
  }
}

}  // namespace
}  // namespace modewise::models
