#include "modewise/tasks/language/compare.h"

#include "modewise/tasks/language/config.h"
#include "modewise/tasks/run_figures.h"

namespace modewise::tasks {
namespace {

FinishedRun read_language_model(const std::filesystem::path& path) {
  return read_finished<LanguageConfig>(
      path, "language", {"language.evaluation_batch", "tokenizer", "model.recompute"}, data_title);
}

/// Bits per byte of text or accuracy of recall as bars, then learning curves.
void draw_language_models(report::HtmlPage& page, std::span<const RunGroup> groups) {
  const bool recall = !groups.front().values("/test/accuracy").empty();
  report::BarChart bars;
  bars.title = recall ? "Recall %" : "Bits a byte";
  report::BarSeries series;
  series.label = bars.title;
  report::LineChart curves;
  curves.title = recall ? "Validation accuracy" : "Validation loss";
  curves.x.label = "step";
  for (const RunGroup& group : groups) {
    const std::vector<double> values = group.values(recall ? "/test/accuracy" : "/test/bits_per_byte");
    bars.categories.push_back(group.name);
    series.values.push_back((recall ? 100 : 1) * mean(values));
    series.errors.push_back((recall ? 100 : 1) * standard_deviation(values).value_or(0));
    report::LineSeries curve;
    curve.label = group.name;
    for (const auto& line : train::RunFolder::open(group.runs.front().path).read_metric_lines()) {
      curve.x.push_back(number(line, "step"));
      curve.y.push_back(number(line, recall ? "val_accuracy" : "val_loss"));
    }
    curves.series.push_back(std::move(curve));
  }
  bars.series.push_back(std::move(series));
  page.add_figure_grid({{std::move(bars), ""}, {std::move(curves), "Of the first seed of each."}});
}

}  // namespace

const Comparison& language_comparison() {
  using Best = report::Column::Best;
  static const Comparison comparison = {read_language_model,
                                        {{{"parameters"}, "/parameters", 0},
                                         {{"loss", Best::lowest}, "/test/loss", 4},
                                         {{"perplexity", Best::lowest}, "/test/perplexity", 3},
                                         {{"bits a byte", Best::lowest}, "/test/bits_per_byte", 4},
                                         {{"recall %", Best::highest}, "/test/accuracy", 1, 100},
                                         {{"validation loss"}, "/validation/loss", 4}},
                                        {{"parameters", "/parameters"},
                                         {"loss", "/test/loss"},
                                         {"perplexity", "/test/perplexity"},
                                         {"bits_per_byte", "/test/bits_per_byte"},
                                         {"accuracy", "/test/accuracy"},
                                         {"validation_loss", "/validation/loss"}},
                                        "Language models side by side",
                                        "Test text",
                                        draw_language_models};
  return comparison;
}

}  // namespace modewise::tasks
