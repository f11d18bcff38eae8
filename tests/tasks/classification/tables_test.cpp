// Evaluation tables, and groups of occluded positions.

#include <gmock/gmock.h>

#include "modewise/metrics/class_metrics.h"
#include "modewise/tasks/classification/class_tables.h"
#include "modewise/tasks/run/explanation.h"

namespace modewise::tasks {
namespace {

TEST(EvaluationText, HasAllClassesTogetherThenEachAndTheConfusionForDetail) {
  // Two of three samples are correct: both of class a; the sample of class b is predicted as a.
  const metrics::ScoreTable table = {2, {0.75, 0.25, 0.5, 0.5, 0.875, 0.125}, {0, 0, 1}};
  const nlohmann::ordered_json evaluation = to_json(metrics::class_metrics(table), "test", {"a", "b"});
  const std::string all =
      "split  cases  AUC %  accuracy %  balanced %  log loss  macro F1 %  majority %\n"
      "─────  ─────  ─────  ──────────  ──────────  ────────  ──────────  ──────────\n"
      "test       3    0.0        66.7        50.0     1.020        40.0        66.7\n";
  const std::string classes =
      "\nclass  cases  AUC %  recall %  precision %  F1 %\n"
      "─────  ─────  ─────  ────────  ───────────  ────\n"
      "a          2    0.0     100.0         66.7  80.0\n"
      "b          1    0.0       0.0            –   0.0\n";
  const std::string confusion =
      "\ntrue \\ predicted  a  b\n"
      "────────────────  ─  ─\n"
      "a                 2  0\n"
      "b                 1  0\n";
  EXPECT_EQ(evaluation_text(evaluation, "cases", false), all + classes);
  EXPECT_EQ(evaluation_text(evaluation, "cases", true), all + classes + confusion);
}

TEST(EvaluationText, LeavesManyClassesToDetail) {
  for (const int64_t count : {12, 13}) {
    metrics::ScoreTable table{
        count, std::vector<double>(static_cast<size_t>(count), 1.0 / static_cast<double>(count)), {0}};
    std::vector<std::string> names;
    for (int64_t k = 0; k < count; ++k) names.push_back("k" + std::to_string(k));
    const nlohmann::ordered_json evaluation = to_json(metrics::class_metrics(table), "test", names);
    const bool shown = evaluation_text(evaluation, "cases", false).find("recall") != std::string::npos;
    EXPECT_EQ(shown, count == 12);
  }
}

TEST(InfluenceOf, TakesEachRunOfPlacesAwayOnce) {
  std::vector<std::pair<int64_t, int64_t>> taken;
  const auto effect = [&](int64_t begin, int64_t end) {
    taken.emplace_back(begin, end);
    return static_cast<double>(begin);
  };
  const Influence thick = influence_of("time", 7, 3, 100, effect);
  EXPECT_EQ(taken, (std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {3, 6}, {6, 7}}));
  EXPECT_EQ(thick.mode, "time");
  EXPECT_EQ(thick.places, (std::vector<std::string>{"0 … 2", "3 … 5", "6"}));
  EXPECT_EQ(thick.effect, (std::vector<double>{0, 3, 6}));
  taken.clear();
  influence_of("time", 7, 2, 2, effect);  // 4 patches in 2 groups
  EXPECT_EQ(taken, (std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 7}}));
}

}  // namespace
}  // namespace modewise::tasks
