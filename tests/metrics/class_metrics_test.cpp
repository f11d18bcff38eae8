// AUC and accuracy against MedMNIST's evaluator, which uses scikit-learn (vectors/make_classify_metrics.py).

#include "modewise/metrics/class_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "tests/error_of.h"

namespace modewise::metrics {
namespace {

using testing::HasSubstr;

std::vector<uint64_t> words(uint64_t number, size_t count) {
  std::vector<uint64_t> out(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t h = (i * 2654435761u + number * 40503u + 12345u) & 0xffffffffu;
    h = ((h ^ (h >> 15)) * 2246822519u) & 0xffffffffu;
    out[i] = h ^ (h >> 13);
  }
  return out;
}

/// `table` of make_classify_metrics.py.
ScoreTable scores_of(uint64_t number) {
  ScoreTable table;
  const size_t samples = 2 + words(number, 1)[0] % 80;
  const size_t classes = number % 4 < 2 ? 2 : 11;
  table.classes = static_cast<int64_t>(classes);
  const std::vector<uint64_t> raw = words(number + 5000, samples * classes);
  for (size_t i = 0; i < samples; ++i) {
    double total = 0;
    for (size_t k = 0; k < classes; ++k) {
      const uint64_t word = raw[i * classes + k];
      table.scores.push_back(static_cast<double>(number % 2 != 0 ? word % 7 : word) + 1);
      total += table.scores.back();
    }
    for (size_t k = 0; k < classes; ++k) table.scores[i * classes + k] /= total;
  }
  for (const uint64_t word : words(number + 9000, samples)) {
    const auto label = static_cast<int64_t>(word % classes);
    table.labels.push_back(number % 5 == 0 && label == table.classes - 1 ? 0 : label);
  }
  return table;
}

TEST(ClassifyMetrics, AgreeWithMedMnistsEvaluatorOnAThousandTables) {
  const auto wanted =
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/metrics/vectors/classify_metrics.json"));
  ASSERT_EQ(wanted.size(), 1000U);
  int undefined = 0;
  for (uint64_t number = 0; number < 1000; ++number) {
    const ScoreTable table = scores_of(number);
    const double auc = medmnist_auc(table);
    undefined += std::isnan(auc);
    EXPECT_EQ(std::isnan(auc), wanted[number][0].is_null()) << number;
    if (!std::isnan(auc)) {
      EXPECT_NEAR(auc, wanted[number][0].get<double>(), 1e-12) << number;
      EXPECT_EQ(defined_auc(table), auc);
    }
    EXPECT_DOUBLE_EQ(medmnist_accuracy(table), wanted[number][1].get<double>()) << number;
  }
  EXPECT_GT(undefined, 100);
}

TEST(ClassifyMetrics, CountTiesHalfAndTakeExactlyOneHalfAsTheFirstClass) {
  const std::vector<double> scores = {0.1, 0.4, 0.4, 0.8};
  const bool positive[] = {false, true, false, true};
  EXPECT_EQ(area_under_curve(scores, positive), 3.5 / 4);
  const ScoreTable table{2, {0.5, 0.5, 0.4, 0.6}, {0, 1}};
  EXPECT_EQ(medmnist_accuracy(table), 1.0);
  const ScoreTable many{3, {0.4, 0.4, 0.2}, {0}};
  EXPECT_EQ(predicted_class(many, 0), 0);
}

TEST(ClassifyMetrics, LeaveOutOnlyClassesThatDoNotOccurWhereWeightsAreChosen) {
  const ScoreTable table{3, {0.6, 0.3, 0.1, 0.2, 0.7, 0.1, 0.5, 0.1, 0.4}, {0, 1, 0}};
  EXPECT_TRUE(std::isnan(medmnist_auc(table)));
  EXPECT_EQ(defined_auc(table), 1.0);
  const ClassMetrics metrics = class_metrics(table);
  EXPECT_EQ(metrics.confusion, (std::vector<int64_t>{2, 0, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(metrics.balanced_accuracy, 1.0);
  EXPECT_DOUBLE_EQ(metrics.loss, -(std::log(0.6) + std::log(0.7) + std::log(0.5)) / 3);
  EXPECT_TRUE(to_json(metrics, "test", {"a", "b", "c"})["auc"].is_null());
}

TEST(ClassifyMetrics, F1IsTheHarmonicMeanOfPrecisionAndRecall) {
  int undefined = 0;
  for (uint64_t number = 0; number < 200; ++number) {
    const ClassMetrics metrics = class_metrics(scores_of(number));
    double sum = 0, counted = 0;
    for (size_t k = 0; k < metrics.f1.size(); ++k) {
      const double recall = metrics.recall[k], precision = metrics.precision[k];
      if (std::isnan(recall) && std::isnan(precision)) {
        EXPECT_TRUE(std::isnan(metrics.f1[k]));
        ++undefined;
        continue;
      }
      const bool none = std::isnan(recall) || std::isnan(precision) || recall + precision == 0;
      const double wanted = none ? 0 : 2 * precision * recall / (precision + recall);
      EXPECT_NEAR(metrics.f1[k], wanted, 1e-14) << number << ' ' << k;
      sum += wanted;
      ++counted;
    }
    EXPECT_NEAR(metrics.macro_f1, sum / counted, 1e-14) << number;
  }
  EXPECT_GT(undefined, 10);
}

TEST(ClassifyMetrics, RefuseScoresThatAreNoNumbers) {
  const ScoreTable table{2, {0.5, std::nan(""), 0.4, 0.6}, {0, 1}};
  EXPECT_EQ(error_of(ErrorKind::data, [&] { medmnist_auc(table); }), "score 0 is not a number");
}

TEST(RocCurve, RunsFromCornerToCornerWithOneStepATie) {
  const std::vector<double> scores = {0.9, 0.5, 0.5, 0.1};
  const bool positive[] = {true, true, false, false};
  const RocCurve curve = roc_curve(scores, positive);
  EXPECT_EQ(curve.false_positive, (std::vector<double>{0, 0, 0.5, 1}));
  EXPECT_EQ(curve.true_positive, (std::vector<double>{0, 0.5, 1, 1}));
}

}  // namespace
}  // namespace modewise::metrics
