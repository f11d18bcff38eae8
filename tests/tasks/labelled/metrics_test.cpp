// AUC and accuracy against MedMNIST's evaluator over scikit-learn (vectors/make_classify_metrics.py), score
// files.

#include "modewise/metrics/class_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/tasks/volumes/score_file.h"

namespace modewise::tasks {
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
metrics::ScoreTable table_of(uint64_t number) {
  metrics::ScoreTable table;
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
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/tasks/vectors/classify_metrics.json"));
  ASSERT_EQ(wanted.size(), 1000U);
  int undefined = 0;
  for (uint64_t number = 0; number < 1000; ++number) {
    const metrics::ScoreTable table = table_of(number);
    const double auc = metrics::medmnist_auc(table);
    undefined += std::isnan(auc);
    EXPECT_EQ(std::isnan(auc), wanted[number][0].is_null()) << number;
    if (!std::isnan(auc)) {
      EXPECT_NEAR(auc, wanted[number][0].get<double>(), 1e-12) << number;
      EXPECT_EQ(metrics::defined_auc(table), auc);
    }
    EXPECT_NEAR(metrics::medmnist_accuracy(table), wanted[number][1].get<double>(), 1e-12) << number;
  }
  EXPECT_GT(undefined, 100);
}

TEST(ClassifyMetrics, CountTiesHalfAndTakeExactlyOneHalfAsTheFirstClass) {
  const std::vector<double> scores = {0.1, 0.4, 0.4, 0.8};
  const bool positive[] = {false, true, false, true};
  EXPECT_EQ(metrics::area_under_curve(scores, positive), 3.5 / 4);
  const metrics::ScoreTable table{2, {0.5, 0.5, 0.4, 0.6}, {0, 1}};
  EXPECT_EQ(metrics::medmnist_accuracy(table), 1.0);
  const metrics::ScoreTable many{3, {0.4, 0.4, 0.2}, {0}};
  EXPECT_EQ(metrics::predicted_class(many, 0), 0);
}

TEST(ClassifyMetrics, LeaveOutOnlyClassesThatDoNotOccurWhereWeightsAreChosen) {
  const metrics::ScoreTable table{3, {0.6, 0.3, 0.1, 0.2, 0.7, 0.1, 0.5, 0.1, 0.4}, {0, 1, 0}};
  EXPECT_TRUE(std::isnan(metrics::medmnist_auc(table)));
  EXPECT_EQ(metrics::defined_auc(table), 1.0);
  const metrics::ClassMetrics metrics = metrics::class_metrics(table);
  EXPECT_EQ(metrics.confusion, (std::vector<int64_t>{2, 0, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(metrics.balanced_accuracy, 1.0);
  EXPECT_NEAR(metrics.loss, -(std::log(0.6) + std::log(0.7) + std::log(0.5)) / 3, 1e-15);
  EXPECT_TRUE(to_json(metrics, "test", {"a", "b", "c"})["auc"].is_null());
}

TEST(ClassifyMetrics, RefuseScoresThatAreNoNumbers) {
  const metrics::ScoreTable table{2, {0.5, std::nan(""), 0.4, 0.6}, {0, 1}};
  EXPECT_THROW(metrics::medmnist_auc(table), Error);
}

TEST(metrics::RocCurve, RunsFromCornerToCornerWithOneStepATie) {
  const std::vector<double> scores = {0.9, 0.5, 0.5, 0.1};
  const bool positive[] = {true, true, false, false};
  const metrics::RocCurve curve = metrics::roc_curve(scores, positive);
  EXPECT_EQ(curve.false_positive, (std::vector<double>{0, 0, 0.5, 1}));
  EXPECT_EQ(curve.true_positive, (std::vector<double>{0, 0.5, 1, 1}));
}

TEST(ScoreFile, IsWrittenReadAndNamedAsMedMnistDoes) {
  EXPECT_EQ(score_file_name("adrenalmnist3d", 28, "test", 0.88649, 0.8384, "1"),
            "adrenalmnist3d_test_[AUC]0.886_[ACC]0.838@1.csv");
  const std::string name = score_file_name("organmnist3d", 64, "val", 1, 0.5, "run 2");
  EXPECT_EQ(name, "organmnist3d_64_val_[AUC]1.000_[ACC]0.500@run 2.csv");
  const ScoreFileName parsed = parse_score_file_name("folder/" + name);
  EXPECT_EQ(parsed.flag, "organmnist3d");
  EXPECT_EQ(parsed.size_flag, "_64");
  EXPECT_EQ(parsed.split, "val");
  EXPECT_EQ(parsed.run, "run 2");
  EXPECT_EQ(parse_score_file_name("scores.csv").flag, "");

  const std::filesystem::path path = std::filesystem::temp_directory_path() / "modewise_scores_test.csv";
  const metrics::ScoreTable table = table_of(2);
  write_file_atomically(path, format_scores(table));
  const metrics::ScoreTable again = read_scores(path);
  EXPECT_EQ(again.classes, table.classes);
  EXPECT_EQ(again.scores, table.scores);
  EXPECT_TRUE(format_scores(table).starts_with("0,"));
  write_file_atomically(path, std::string_view("0,0.5,0.5\n1,0.5,oops\n"));
  try {
    read_scores(path);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_THAT(error.what(), HasSubstr("2"));
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace modewise::tasks
