#include "modewise/tasks/language/report.h"

#include <fmt/format.h>

#include "modewise/tasks/language/evaluate.h"
#include "modewise/tasks/run_report.h"
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
  const Json metrics = judged_metrics(run.folder);
  const bool recall = run.config.data.is_recall();
  Facts facts = {{"text", run.config.data.path}};
  if (run.tokenizer) facts.emplace_back("tokenizer", run.tokenizer->name());
  report::HtmlPage page = open_page(run, {data_title(run.config), "Language model's run", facts, {}});
  if (recall)
    add_recall_metrics(page, metrics);
  else
    add_text_metrics(page, metrics);
  if (metrics.contains("lengths")) add_lengths(page, metrics["lengths"], judged_part(metrics));
  LearningChart validation = {"Validation, bits a byte", {"val_bits_per_byte"}};
  if (recall) validation = {"Validation accuracy", {"val_accuracy"}};
  add_learning(page, run.folder, {{"Losses", {"train_loss", "val_loss"}}, validation});
  write_page(page, run.folder, out);
}

}  // namespace modewise::tasks
