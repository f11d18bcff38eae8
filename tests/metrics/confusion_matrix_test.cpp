// Segmentation metrics against scikit-learn (../tasks/vectors/make_segment_metrics.py).

#include "modewise/metrics/confusion_matrix.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/file.h"
#include "tests/error_of.h"

namespace modewise::metrics {
namespace {

using nlohmann::json;

const json& confusion_vectors() {
  static const json all =
      json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/tasks/vectors/segment_metrics.json"));
  return all;
}

void expect_as(double value, const json& wanted, const std::string& what) {
  if (wanted.is_null())
    EXPECT_TRUE(std::isnan(value)) << what << " " << value;
  else
    EXPECT_NEAR(value, wanted.get<double>(), 1e-12) << what;
}

TEST(SegmentMetrics, AgreeWithScikitLearn) {
  for (const json& one : confusion_vectors()["cases"]) {
    ConfusionMatrix matrix(one["classes"]);
    const auto truth = one["truth"].get<std::vector<int16_t>>(),
               called = one["called"].get<std::vector<int16_t>>();
    const size_t half = truth.size() / 2;
    matrix.add(std::span(truth).first(half), std::span(called).first(half));
    matrix.add(std::span(truth).subspan(half), std::span(called).subspan(half));
    expect_as(matrix.accuracy(), one["accuracy"], "accuracy");
    expect_as(matrix.mean_iou(), one["mean_iou"], "mean_iou");
    expect_as(matrix.micro_iou(), one["micro_iou"], "micro_iou");
    expect_as(matrix.mean_recall(), one["mean_recall"], "mean_recall");
    expect_as(matrix.kappa(), one["kappa"], "kappa");
    for (int64_t c = 0; c < matrix.classes(); ++c) {
      const auto i = static_cast<size_t>(c);
      expect_as(matrix.iou(c), one["iou"][i], "iou");
      expect_as(matrix.recall(c), one["recall"][i], "recall");
      expect_as(matrix.precision(c), one["precision"][i], "precision");
      expect_as(matrix.f1(c), one["f1"][i], "f1");
      for (int64_t p = 0; p < matrix.classes(); ++p)
        EXPECT_EQ(matrix.count(c, p), one["confusion"][i][static_cast<size_t>(p)].get<int64_t>());
    }
  }
}

TEST(ConfusionMatrix, RefusesWhatIsOutsideItsClasses) {
  ConfusionMatrix matrix(3);
  const auto refused = [&](std::vector<int16_t> truth, std::vector<int16_t> called) {
    return error_of(ErrorKind::internal, [&] { matrix.add(truth, called); });
  };
  for (const auto& [truth, called] : std::vector<std::pair<int, int>>{{3, 0}, {0, 3}, {0, -1}})
    EXPECT_EQ(refused({static_cast<int16_t>(truth)}, {static_cast<int16_t>(called)}),
              fmt::format("ConfusionMatrix: label {} or prediction {} is outside 3 classes", truth, called));
  EXPECT_EQ(refused({1, 2}, {1}), "ConfusionMatrix: 2 labels but 1 predictions");
  EXPECT_EQ(matrix.total(), 0);
  matrix.add(std::vector<int16_t>{-1}, std::vector<int16_t>{7});  // ignored
  EXPECT_EQ(matrix.total(), 0);
}

// Published: 63.65 % accuracy and 46.68 % IoU. For 2000 pixels these are 1273 correct and 727 wrong ones,
// each of which is in the union twice: 1273 / (1273 + 2 · 727).
TEST(SegmentMetrics, KnowThePublishedPairOfAccuracyAndMicroIou) {
  ConfusionMatrix matrix(3);
  std::vector<int16_t> truth, called;
  for (int i = 0; i < 2000; ++i) {
    truth.push_back(static_cast<int16_t>(i % 3));
    called.push_back(static_cast<int16_t>((i < 1273 ? i : i + 1 + i % 2) % 3));
  }
  matrix.add(truth, called);
  EXPECT_EQ(matrix.accuracy(), 0.6365);
  EXPECT_NEAR(matrix.micro_iou(), 1273.0 / 2727.0, 1e-15);
  EXPECT_EQ(std::round(1e4 * matrix.micro_iou()), 4668);
}

}  // namespace
}  // namespace modewise::metrics
