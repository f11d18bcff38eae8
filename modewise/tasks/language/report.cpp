#include "modewise/tasks/language/report.h"

#include <fmt/format.h>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/report/html_page.h"
#include "modewise/tasks/language/evaluate.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

void add_text_metrics(report::HtmlPage& page, const Json& metrics) {
  report::Table table({{"text"}, {"tokens"}, {"loss"}, {"perplexity"}, {"bits a byte"}});
  for (const char* part : {"validation", "test"}) {
    if (!metrics.contains(part)) continue;
    table.add_row({part, Cell(number(metrics[part], "tokens"), 0), Cell(number(metrics[part], "loss"), 4),
                   Cell(number(metrics[part], "perplexity"), 3),
                   Cell(number(metrics[part], "bits_per_byte"), 4)});
  }
  page.add_section("How well it predicts");
  page.add_table(table,
                 "Loss in nats a token over windows of the trained length, each token predicted once; "
                 "modewise evaluate has other conventions.");
}

report::LineChart recall_figure(const Json& test) {
  report::LineChart chart;
  chart.title = "Recall by distance";
  chart.x.label = "tokens between pair and question";
  chart.x.scale = report::AxisScale::log;
  chart.y.label = "accuracy";
  chart.y.min = 0;
  chart.y.max = 1;
  report::LineSeries line;
  line.label = "accuracy";
  for (const Json& one : test["by_distance"]) {
    line.x.push_back(number(one, "from"));
    line.y.push_back(number(one, "accuracy"));
  }
  chart.series.push_back(std::move(line));
  return chart;
}

void add_recall_metrics(report::HtmlPage& page, const Json& metrics) {
  report::Table table({{"pairs"}, {"asked"}, {"accuracy %"}});
  const std::string part = judged_part(metrics);
  for (const Json& one : metrics[part]["by_pairs"])
    table.add_row(
        {one["pairs"].get<int64_t>(), one["asked"].get<int64_t>(), Cell(100 * number(one, "accuracy"), 1)});
  page.add_section("How well it recalls");
  page.add_table(table, fmt::format("Samples of {}.", part));
  page.add_figure(recall_figure(metrics[part]));
}

/// Perplexity and speed behind every length, or recall, a line a variant.
void add_lengths(report::HtmlPage& page, const Json& lengths, const std::string& part) {
  std::vector<Json> evaluations;
  const bool recall = lengths.front().front().contains("by_pairs");
  report::Table table({{"variant"},
                       {"length"},
                       {recall ? "questions" : "perplexity"},
                       {recall ? "accuracy %" : "tokens a second"}});
  for (const auto& [variant, figures] : lengths.items()) {
    Json& one = evaluations.emplace_back(Json{{"model", variant}, {"results", Json::array()}});
    for (const auto& [length, figure] : figures.items()) {
      one["results"].push_back(figure);
      if (recall)
        table.add_row(
            {variant, length, Cell(number(figure, "asked"), 0), Cell(100 * number(figure, "accuracy"), 2)});
      else
        table.add_row({variant, length, Cell(number(figure, "perplexity"), 3),
                       Cell(number(figure, "tokens_per_second"), 0)});
    }
  }
  page.add_section("Beyond the trained length");
  std::vector<report::CaptionedFigure> charts;
  for (report::LineChart& chart : length_figures(evaluations)) charts.push_back({std::move(chart), ""});
  page.add_figure_grid(charts);
  page.add_table(
      table, recall ? fmt::format("Samples of {}, of so many tokens.", part)
                    : fmt::format("The same stretches of {} text, predicted behind so many tokens.", part));
}

}  // namespace

void write_language_report(const LanguageRun& run, const std::filesystem::path& out) {
  const Json metrics = run.folder.read_metrics();
  require_judged(metrics, run.folder);
  const bool recall = run.config.data.is_recall();
  report::HtmlPage page(fmt::format("{} on {}", model_title(run.config), data_title(run.config)),
                        "Language model's run");
  add_run_facts(page, run.folder);
  page.add_fact("text", run.config.data.path);
  if (run.tokenizer) page.add_fact("tokenizer", run.tokenizer->name());
  page.add_fact("model", model_fact(model_title(run.config), *run.model));
  page.add_fact("seed", std::to_string(run.config.train.seed));
  if (recall)
    add_recall_metrics(page, metrics);
  else
    add_text_metrics(page, metrics);
  if (metrics.contains("lengths")) add_lengths(page, metrics["lengths"], judged_part(metrics));
  const auto lines = run.folder.read_metric_lines();
  if (lines.size() > 1) {
    page.add_section("Learning");
    page.add_figure_grid({{curve_figure(lines, {"train_loss", "val_loss"}, "Losses"), ""},
                          {recall ? curve_figure(lines, {"val_accuracy"}, "Validation accuracy")
                                  : curve_figure(lines, {"val_bits_per_byte"}, "Validation, bits a byte"),
                           ""}});
  }
  page.add_section("Settings");
  page.add_preformatted(run.folder.read_config(), "config.toml");
  page.write(out);
}

}  // namespace modewise::tasks
