// Greedy ensemble weights and their cross-validation against NumPy and scikit-learn, which try every pick and
// fold (vectors/make_class_mixture.py).

#include "modewise/metrics/class_mixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"

namespace modewise::metrics {
namespace {

using testing::ElementsAre;
using testing::Pointwise;

MATCHER_P(IsNear, tolerance, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= tolerance;
}

std::vector<MixedPart> parts_of(const nlohmann::json& one) {
  std::vector<MixedPart> parts(one["labels"].size());
  for (const nlohmann::json& model : one["thousandths"])
    for (size_t p = 0; p < parts.size(); ++p) {
      ScoreTable table;
      table.classes = one["classes"];
      for (const nlohmann::json& score : model[p]) table.scores.push_back(score.get<double>() / 1000);
      table.labels = one["labels"][p].get<std::vector<int64_t>>();
      parts[p].push_back(table);
    }
  return parts;
}

TEST(ClassMixture, IsThatOfEveryPickTried) {
  const auto cases =
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/metrics/vectors/class_mixture.json"));
  ASSERT_EQ(cases.size(), 28U);
  for (size_t i = 0; i < cases.size(); ++i) {
    const nlohmann::json& one = cases[i];
    const std::vector<MixedPart> parts = parts_of(one);
    const std::string select = one["select"];
    EXPECT_THAT(greedy_class_weights(parts, select, one["picks"]),
                Pointwise(IsNear(1e-12), one["greedy"].get<std::vector<double>>()))
        << i;
    const ClassMixture mixture = mix_classes(parts, select, one["picks"]);
    EXPECT_THAT(mixture.weights, Pointwise(IsNear(1e-12), one["mixed"].get<std::vector<double>>())) << i;
    ASSERT_EQ(mixture.evaluated.size(), parts.size());
    for (size_t p = 0; p < parts.size(); ++p) {
      EXPECT_THAT(mixture.evaluated[p].scores,
                  Pointwise(IsNear(1e-12), one["judged"][p].get<std::vector<double>>()))
          << i;
      EXPECT_EQ(mixture.evaluated[p].labels, parts[p].front().labels);
    }
  }
}

/// Binary scores, given those of the second class.
ScoreTable binary(const std::vector<double>& second, const std::vector<int64_t>& labels) {
  ScoreTable table{2, {}, labels};
  for (const double score : second) {
    table.scores.push_back(1 - score);
    table.scores.push_back(score);
  }
  return table;
}

TEST(ClassMixture, LogLossDecidesBetweenEqualsAndThenTheFirst) {
  const std::vector<int64_t> labels = {0, 1, 0, 1};
  const ScoreTable suspect = binary({0.4, 0.6, 0.4, 0.6}, labels),
                   sure = binary({0.1, 0.9, 0.1, 0.9}, labels);
  const std::vector<MixedPart> parts = {{suspect, sure, sure}};
  EXPECT_THAT(greedy_class_weights(parts, "accuracy", 9), ElementsAre(0, 1, 0));
  EXPECT_THAT(mix_classes(parts, "accuracy", 9).weights, ElementsAre(0, 1, 0));
}

TEST(ClassMixture, MixesModelsThatAreRightTogether) {
  // Each model is wrong about a different third of the samples, by a smaller margin than the two others are
  // right.
  const std::vector<int64_t> labels(30, 1);
  std::vector<double> scores[3];
  for (size_t m = 0; m < 3; ++m)
    for (size_t i = 0; i < 30; ++i) scores[m].push_back(i % 3 == m ? 0.4 : 0.8);
  MixedPart part;
  for (const auto& one : scores) part.push_back(binary(one, labels));
  const ClassMixture mixture = mix_classes(std::span(&part, 1), "accuracy", 3);
  EXPECT_THAT(mixture.weights, ElementsAre(1.0 / 3, 1.0 / 3, 1.0 / 3));
  EXPECT_EQ(medmnist_accuracy(mixture.evaluated.front()), 1);
}

TEST(ClassMixture, AFigureThatIsNoNumberIsBelowAllOthers) {
  const MixtureFigure none{std::nan(""), 0.1}, low{0.2, 5};
  EXPECT_TRUE(low.better_than(none));
  EXPECT_FALSE(none.better_than(low));
  EXPECT_TRUE((MixtureFigure{std::nan(""), 0.05}).better_than(none));
  EXPECT_FALSE(none.better_than(none));
  // One sample: no AUC, and each fold lacks samples to choose by or to evaluate.
  const std::vector<MixedPart> parts = {{binary({0.6}, {1}), binary({0.8}, {1})}};
  EXPECT_THAT(mix_classes(parts, "auc", 5).weights, ElementsAre(0, 1));
}

TEST(KeptScores, ComeBack) {
  const ScoreTable table = binary({0.25, 0.5, 1}, {1, 0, 1});
  std::map<std::string, io::Array> arrays;
  add_arrays(table, "validation", arrays);
  const ScoreTable again = table_of(arrays, "validation", "file");
  EXPECT_EQ(again.classes, 2);
  EXPECT_EQ(again.scores, table.scores);
  EXPECT_EQ(again.labels, table.labels);
  const auto refusal = [&](const std::string& split) -> std::string {
    try {
      table_of(arrays, split, "file");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_EQ(refusal("test"), "file: missing array test_scores");
  arrays["validation_labels"] = io::make_array({3}, std::span<const int64_t>(std::vector<int64_t>{0, 2, 1}));
  EXPECT_EQ(refusal("validation"), "file: validation_labels holds 2, but there are 2 classes");
  arrays["validation_labels"] = io::make_array({1}, std::span<const int64_t>(std::vector<int64_t>{0}));
  EXPECT_EQ(refusal("validation"),
            "file: validation_scores must be [n, K] and validation_labels [n], got [3, 2] and [1]");
}

}  // namespace
}  // namespace modewise::metrics
