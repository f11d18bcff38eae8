#include "modewise/tasks/labelled_series/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/report/html_page.h"
#include "modewise/tasks/labelled/class_figures.h"
#include "modewise/tasks/labelled/class_tables.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

constexpr int64_t kShownCases = 4, kShownVariables = 6;

void add_series_metrics(report::HtmlPage& page, const SeriesRun& run, const Json& metrics) {
  page.add_section("How good it is");
  report::Table table(
      {{"split"}, {"cases"}, {"accuracy %"}, {"balanced accuracy %"}, {"AUC %"}, {"log loss"}});
  for (const char* split : {"validation", "test"}) {
    if (!metrics.contains(split)) continue;
    const Json& one = metrics[split];
    table.add_row({split, one["samples"].get<int64_t>(), percent(one, "accuracy"),
                   percent(one, "balanced_accuracy"), percent(one, "auc"), Cell(number(one, "loss"), 3)});
  }
  page.add_table(table,
                 run.config.data.protocol == "tslib"
                     ? "Protocol tslib: the test cases chose the weights, so that this accuracy is an upper "
                       "bound."
                     : "The weights are those of the best validation metric; the test cases chose nothing.");
  const std::string part = judged_part(metrics);
  report::Table classes({{"class"}, {part + " cases"}, {"recall %"}, {"precision %"}});
  for (const Json& one : metrics[part]["classes"])
    classes.add_row({one["name"].get<std::string>(), one["samples"].get<int64_t>(), percent(one, "recall"),
                     percent(one, "precision")});
  page.add_table(classes);
}

report::LineChart case_figure(const data::SeriesCollection& set, int64_t sample) {
  report::LineChart chart;
  chart.title = set.names[static_cast<size_t>(sample)];
  chart.x.label = "step";
  const at::Tensor& series = set.cases[static_cast<size_t>(sample)];
  for (int64_t v = 0; v < std::min(series.size(0), kShownVariables); ++v) {
    report::LineSeries line;
    line.label = fmt::format("{}", v + 1);
    const float* values = series.const_data_ptr<float>() + v * series.size(1);
    line.y.assign(values, values + series.size(1));
    chart.series.push_back(std::move(line));
  }
  return chart;
}

/// The cases of `samples` with the lowest scores of their own class.
void add_errors(report::HtmlPage& page, const data::SeriesCollection& set,
                const std::vector<int64_t>& samples, const ScoreTable& table) {
  std::vector<int64_t> order(static_cast<size_t>(table.samples()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  const auto own_score = [&](int64_t i) { return table.score(i, table.labels[static_cast<size_t>(i)]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return own_score(a) < own_score(b); });
  page.add_section("Most wrong");
  page.add_paragraph(fmt::format("Scaled series, the first {} variables at most.", kShownVariables));
  std::vector<report::CaptionedFigure> figures;
  for (int64_t i = 0; i < std::min(kShownCases, table.samples()); ++i) {
    const int64_t row = order[static_cast<size_t>(i)];
    figures.push_back(
        {case_figure(set, samples[static_cast<size_t>(row)]),
         fmt::format("{}: score {:.3f}; taken for {}",
                     set.classes[static_cast<size_t>(table.labels[static_cast<size_t>(row)])], own_score(row),
                     set.classes[static_cast<size_t>(predicted_class(table, row))])});
  }
  page.add_figure_grid(figures);
}

}  // namespace

void write_series_report(const SeriesRun& run, const data::SeriesCollection& set, const fs::path& out) {
  const Json metrics = run.folder.read_metrics();
  require_judged(metrics, run.folder);
  const std::string part = judged_part(metrics);
  report::HtmlPage page(fmt::format("{} on {}", model_title(run.config), data_title(run.config)),
                        "Run that classifies series");
  add_run_facts(page, run.folder);
  page.add_fact("data", fmt::format("{}: {} cases of {} variables, {} steps{}", set.source, set.count(),
                                    set.variables, set.length, set.padded() ? " at most" : ""));
  page.add_fact("protocol", run.config.data.protocol);
  page.add_fact("model", model_fact(model_title(run.config), *run.model));
  page.add_fact("seed", std::to_string(run.config.train.seed));
  add_series_metrics(page, run, metrics);
  const ScoreTable table = score_split(run, set, part);
  page.add_figure_grid(
      {{confusion_figure(metrics[part], part == "test" ? "Test cases by class" : "Validation cases by class"),
        ""},
       {roc_figure(table, run.trained.classes), ""}});
  const auto lines = run.folder.read_metric_lines();
  if (lines.size() > 1) {
    page.add_section("Learning");
    page.add_figure_grid({{curve_figure(lines, {"val_accuracy"}, "Validation accuracy"), ""},
                          {curve_figure(lines, {"train_loss", "val_loss"}, "Losses"), ""}});
  }
  add_errors(page, set, set.split(part), table);
  page.add_section("Settings");
  page.add_preformatted(run.folder.read_config(), "config.toml");
  page.write(out);
}

}  // namespace modewise::tasks
