#include "modewise/tasks/labelled_series/compare.h"

#include "modewise/tasks/labelled_series/config.h"
#include "modewise/tasks/run_figures.h"

namespace modewise::tasks {
namespace {

FinishedRun read_series_classifier(const std::filesystem::path& path) {
  return read_finished<LabelledSeriesConfig>(path, "series", {"series.evaluation_batch"}, data_title);
}

/// Accuracy as bars, then learning curves.
void draw_series_classifiers(report::HtmlPage& page, std::span<const RunGroup> groups) {
  report::BarChart bars;
  bars.title = "Accuracy %";
  report::BarSeries series;
  series.label = bars.title;
  for (const RunGroup& group : groups) {
    const std::vector<double> values = group.values("/test/accuracy");
    bars.categories.push_back(group.name);
    series.values.push_back(100 * mean(values));
    series.errors.push_back(100 * standard_deviation(values).value_or(0));
  }
  bars.series.push_back(std::move(series));
  std::vector<report::CaptionedFigure> figures = {{std::move(bars), ""}};
  for (const RunGroup& group : groups) {
    const auto lines = train::RunFolder::open(group.runs.front().path).read_metric_lines();
    if (lines.size() > 1)
      figures.push_back({curve_figure(lines, {"val_accuracy"}, group.name + ": validation accuracy"), ""});
  }
  page.add_figure_grid(figures);
}

}  // namespace

const Comparison& series_comparison() {
  using Best = report::Column::Best;
  static const Comparison comparison = {read_series_classifier,
                                        {{{"accuracy %", Best::highest}, "/test/accuracy", 1, 100},
                                         {{"balanced %"}, "/test/balanced_accuracy", 1, 100},
                                         {{"AUC %"}, "/test/auc", 1, 100},
                                         {{"log loss", Best::lowest}, "/test/loss", 3},
                                         {{"validation %"}, "/validation/accuracy", 1, 100}},
                                        {{"accuracy", "/test/accuracy"},
                                         {"balanced_accuracy", "/test/balanced_accuracy"},
                                         {"auc", "/test/auc"},
                                         {"loss", "/test/loss"},
                                         {"validation_accuracy", "/validation/accuracy"},
                                         {"validation_loss", "/validation/loss"}},
                                        "Classifiers of series side by side",
                                        "Test cases",
                                        draw_series_classifiers};
  return comparison;
}

}  // namespace modewise::tasks
