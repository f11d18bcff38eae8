#include "modewise/tasks/volumes/compare.h"

#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/volumes/config.h"

namespace modewise::tasks {
namespace {

FinishedRun read_classifier(const std::filesystem::path& path) {
  return read_finished<ClassifyConfig>(path, "classify", {"classify.evaluation_batch"}, data_title);
}

/// AUC and accuracy as bars, then learning curves.
void draw_classifiers(report::HtmlPage& page, std::span<const RunGroup> groups) {
  std::vector<report::CaptionedFigure> figures;
  for (const auto& [pointer, title] :
       {std::pair("/test/auc", "AUC %"), std::pair("/test/accuracy", "Accuracy %")}) {
    report::BarChart bars;
    bars.title = title;
    report::BarSeries series;
    series.label = title;
    for (const RunGroup& group : groups) {
      const std::vector<double> values = group.values(pointer);
      bars.categories.push_back(group.name);
      series.values.push_back(100 * mean(values));
      series.errors.push_back(100 * standard_deviation(values).value_or(0));
    }
    bars.series.push_back(std::move(series));
    figures.push_back({std::move(bars), ""});
  }
  page.add_figure_grid(figures);
  figures.clear();
  for (const RunGroup& group : groups) {
    const auto lines = train::RunFolder::open(group.runs.front().path).read_metric_lines();
    if (lines.size() > 1) figures.push_back({curve_figure(lines, {"val_auc", "train_loss"}, group.name), ""});
  }
  if (!figures.empty()) page.add_figure_grid(figures);
}

}  // namespace

const Comparison& classify_comparison() {
  using Best = report::Column::Best;
  // AUC and accuracy in percent, as the papers' tables.
  static const Comparison comparison = {read_classifier,
                                        {{{"AUC %", Best::highest}, "/test/auc", 1, 100},
                                         {{"accuracy %", Best::highest}, "/test/accuracy", 1, 100},
                                         {{"balanced %"}, "/test/balanced_accuracy", 1, 100},
                                         {{"validation AUC %"}, "/validation/auc", 1, 100},
                                         {{"log loss", Best::lowest}, "/test/loss", 3}},
                                        {{"auc", "/test/auc"},
                                         {"accuracy", "/test/accuracy"},
                                         {"balanced_accuracy", "/test/balanced_accuracy"},
                                         {"loss", "/test/loss"},
                                         {"validation_auc", "/validation/auc"},
                                         {"validation_accuracy", "/validation/accuracy"}},
                                        "Classifiers side by side",
                                        "Test volumes",
                                        draw_classifiers};
  return comparison;
}

}  // namespace modewise::tasks
