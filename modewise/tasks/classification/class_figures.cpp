#include "modewise/tasks/classification/class_figures.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace modewise::tasks {
namespace {

constexpr int64_t kMaxCurves = 12;

}  // namespace

report::HeatMap confusion_figure(const nlohmann::ordered_json& evaluation, const std::string& title) {
  report::HeatMap map;
  map.title = title;
  map.x_label = "predicted";
  map.y_label = "true";
  for (const nlohmann::ordered_json& one : evaluation.at("classes")) map.row_labels.push_back(one.at("name"));
  map.column_labels = map.row_labels;
  map.rows = map.columns = std::ssize(map.row_labels);
  for (const nlohmann::ordered_json& row : evaluation.at("confusion"))
    for (const nlohmann::ordered_json& count : row) map.values.push_back(count.get<double>());
  map.show_values = true;
  map.color_bar = false;
  return map;
}

report::LineChart roc_figure(const metrics::ScoreTable& table, const std::vector<std::string>& classes) {
  report::LineChart chart;
  chart.title = "ROC";
  chart.x.label = "false positive rate";
  chart.y.label = "true positive rate";
  const auto n = static_cast<size_t>(table.samples());
  const auto positive = std::make_unique<bool[]>(n);
  std::vector<double> column(n);
  for (int64_t k = table.classes == 2 ? 1 : 0; k < std::min(table.classes, kMaxCurves); ++k) {
    for (size_t i = 0; i < n; ++i) {
      column[i] = table.score(static_cast<int64_t>(i), k);
      positive[i] = table.labels[i] == k;
    }
    metrics::RocCurve curve = metrics::roc_curve(column, {positive.get(), n});
    report::LineSeries line;
    line.label = classes[static_cast<size_t>(k)];
    line.x = std::move(curve.false_positive);
    line.y = std::move(curve.true_positive);
    chart.series.push_back(std::move(line));
  }
  return chart;
}

}  // namespace modewise::tasks
