#include "modewise/tasks/language_modeling/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "modewise/tasks/language_modeling/run.h"
#include "modewise/tasks/language_modeling/spec.h"
#include "modewise/tasks/run/run_figures.h"
#include "modewise/tasks/run/run_report.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

report::LineChart distance_figure(const Json& scores) {
  report::LineChart chart;
  chart.title = "Recall by distance";
  chart.x.label = "tokens between pair and query";
  chart.x.scale = report::AxisScale::log;
  chart.y.label = "accuracy";
  chart.y.min = 0;
  chart.y.max = 1;
  report::LineSeries line;
  line.label = "accuracy";
  for (const Json& one : scores.at("by_distance")) {
    line.x.push_back(number(one, "from"));
    line.y.push_back(number(one, "accuracy"));
  }
  chart.series.push_back(std::move(line));
  return chart;
}

/// Tables of recall scores (to_json of RecallScores) on samples of `part`.
std::vector<ResultTable> recall_tables(const Json& scores, const std::string& part) {
  Json distances = scores.at("by_distance");
  for (Json& one : distances)
    one["range"] = fmt::format("{} … {}", one.at("from").get<int64_t>(), one.at("to").get<int64_t>());
  const JsonColumn asked = {"queries", "asked"}, recall = {"recall %", "accuracy", 2, 100};
  return {{"Recall",
           fmt::format("On the {} samples.", part),
           json_table({{"pairs", "pairs"}, asked, recall}, scores.at("by_pairs")),
           {distance_figure(scores)}},
          {"", "", json_table({{"distance", "range"}, asked, recall}, distances)}};
}

std::string recall_line(const Json& scores, const std::string& part) {
  return fmt::format("{}: recall {:.2f} % of {} queries\n\n", part, 100 * number(scores, "accuracy"),
                     Cell::count(scores.at("asked")).text());
}

/// Table of text scores, one row per "split".
ResultTable text_table(const Json& rows) {
  return {"Perplexity",
          "Loss in nats per token over windows of the trained length, each token predicted once; modewise "
          "evaluate has other conventions.",
          json_table({{"text", "split"},
                      {"tokens", "tokens"},
                      {"loss", "loss", 4},
                      {"perplexity", "perplexity", 3},
                      {"bits per byte", "bits_per_byte", 4}},
                     rows)};
}

bool is_recall(const Json& evaluation) {
  const Json& results = evaluation.at("results");
  return !results.empty() && results.front().contains("by_pairs");
}

/// Figures of perplexity and speed, or recall, by length; one line per evaluation, labelled with its model.
std::vector<report::Figure> length_figures(const std::vector<Json>& evaluations) {
  const auto chart_of = [&](const char* key, const std::string& title, report::AxisScale scale) {
    report::LineChart chart;
    chart.title = title;
    chart.x.label = "tokens";
    chart.x.scale = report::AxisScale::log;
    chart.y.scale = scale;
    for (const Json& evaluation : evaluations) {
      std::map<std::string, report::LineSeries> by_convention;  // "": recall
      for (const Json& one : evaluation.at("results")) {
        if (!one.contains("length")) continue;
        report::LineSeries& line = by_convention[one.value("convention", "")];
        line.x.push_back(number(one, "length"));
        line.y.push_back(number(one, key));
      }
      for (auto& [convention, line] : by_convention) {
        line.label = evaluation.at("model");
        if (by_convention.size() > 1) line.label += " " + convention;
        chart.series.push_back(std::move(line));
      }
    }
    return chart;
  };
  if (is_recall(evaluations.front())) return {chart_of("accuracy", "Recall", report::AxisScale::linear)};
  return {chart_of("perplexity", "Perplexity", report::AxisScale::log),
          chart_of("tokens_per_second", "Tokens per second", report::AxisScale::log)};
}

/// Table of perplexity and speed, or recall, by length, one row per variant.
ResultTable lengths_table(const Json& lengths, const std::string& part) {
  std::vector<Json> evaluations;
  Json rows = Json::array();
  for (const auto& [variant, figures] : lengths.items()) {
    Json& one = evaluations.emplace_back(Json{{"model", variant}, {"results", Json::array()}});
    for (const auto& [length, figure] : figures.items()) {
      one["results"].push_back(figure);
      rows.push_back(figure);
      rows.back()["variant"] = variant;
      rows.back()["tokens_before"] = length;
    }
  }
  std::vector<JsonColumn> columns = {{"variant", "variant"}, {"length", "tokens_before"}};
  const bool recall = is_recall(evaluations.front());
  if (recall)
    columns.insert(columns.end(), {{"queries", "asked"}, {"recall %", "accuracy", 2, 100}});
  else
    columns.insert(columns.end(), {{"perplexity", "perplexity", 3}, {"tokens/s", "tokens_per_second", 0}});
  return {"Beyond the trained length",
          recall ? fmt::format("Samples of the {} split, by length in tokens.", part)
                 : fmt::format("The same spans of {} text, by context length in tokens.", part),
          json_table(columns, rows), length_figures(evaluations)};
}

/// Table of recall or perplexity by convention and length (evaluate.h).
ResultTable measured_table(const std::string& title, const Json& evaluation) {
  const std::vector<JsonColumn> recall = {
      {"length", "length"}, {"queries", "asked"}, {"recall %", "accuracy", 2, 100}, {"loss", "loss", 4}};
  const std::vector<JsonColumn> perplexity = {{"convention", "convention"},
                                              {"length", "length"},
                                              {"predicted", "tokens"},
                                              {"loss", "loss", 4},
                                              {"perplexity", "perplexity", 3},
                                              {"mean of windows", "window_mean_perplexity", 3},
                                              {"bits per byte", "bits_per_byte", 4},
                                              {"word perplexity", "word_perplexity", 2},
                                              {"tokens/s", "tokens_per_second", 0},
                                              {"seconds", "seconds", 1}};
  return {title, "", json_table(is_recall(evaluation) ? recall : perplexity, evaluation.at("results")),
          length_figures({evaluation})};
}

/// Heat map of depth by length.
report::HeatMap passkey_figure(const Json& cells) {
  report::HeatMap map;
  map.title = "Passkey accuracy";
  map.x_label = "tokens";
  map.y_label = "depth";
  map.min = 0;
  map.max = 1;
  map.show_values = true;
  const auto place = [](std::vector<std::string>& labels, const std::string& label) {
    const auto found = std::find(labels.begin(), labels.end(), label);
    const int64_t index = found - labels.begin();
    if (found == labels.end()) labels.push_back(label);
    return index;
  };
  std::map<std::pair<int64_t, int64_t>, double> found;  // by row and column
  for (const Json& cell : cells) {
    const int64_t row = place(map.row_labels, fmt::format("{:g} %", 100 * number(cell, "depth")));
    found[{row, place(map.column_labels, cell.at("length").dump())}] = cell.at("exact");
  }
  map.rows = std::ssize(map.row_labels);
  map.columns = std::ssize(map.column_labels);
  map.values.assign(static_cast<size_t>(map.rows * map.columns), std::nan(""));
  for (const auto& [at, value] : found)
    map.values[static_cast<size_t>(at.first * map.columns + at.second)] = value;
  return map;
}

ResultTable passkey_table(const Json& cells) {
  return {"Passkeys",
          "",
          json_table({{"tokens", "length"},
                      {"depth %", "depth", 0, 100},
                      {"exact %", "exact", 0, 100},
                      {"digits %", "digits", 0, 100},
                      {"seconds", "seconds", 2}},
                     cells),
          {passkey_figure(cells)}};
}

ResultTable questions_table(const Json& all) {
  report::Table table({{"task"},
                       {"questions"},
                       {"accuracy %"},
                       {"normalized accuracy %"},
                       {"metric"},
                       {"score"},
                       {"seconds"}});
  for (const Json& one : all) {
    const bool choice = one.at("kind") == "choice";
    const auto accuracy = [&](const char* key) {
      return choice
                 ? Cell::mean_sd(100 * number(one[key], "mean"), 100 * number(one[key], "standard_error"), 1)
                 : Cell("");
    };
    table.add_row({one.at("name").get<std::string>(), one.at("questions").get<int64_t>(),
                   accuracy("accuracy"), accuracy("accuracy_normalized"),
                   choice ? "" : one.at("metric").get<std::string>(),
                   choice ? Cell("") : Cell(number(one, "score"), 2), Cell(number(one, "seconds"), 1)});
  }
  return {"Tasks", "", table};
}

/// Bar charts of bits per byte or recall, then learning curves.
void draw_language_models(report::HtmlPage& page, std::span<const RunGroup> groups) {
  const bool recall = !groups.front().values("/test/accuracy").empty();
  report::LineChart curves;
  curves.title = recall ? "Validation accuracy" : "Validation loss";
  curves.x.label = "step";
  for (const RunGroup& group : groups) {
    report::LineSeries curve;
    const auto [name, lines] = learning_lines(group);
    curve.label = name;
    for (const Json& line : lines) {
      curve.x.push_back(number(line, "step"));
      curve.y.push_back(number(line, recall ? "val_accuracy" : "val_loss"));
    }
    curves.series.push_back(std::move(curve));
  }
  report::BarChart bars = recall ? group_bars("Recall %", groups, "/test/accuracy", 100)
                                 : group_bars("Bits per byte", groups, "/test/bits_per_byte");
  const std::string caption =  // a single line has no label
      groups.size() == 1 ? curves.series.front().label : "Means over the seeds, unless a label names one.";
  page.add_figure_grid({{std::move(bars), ""}, {std::move(curves), caption}});
}

}  // namespace

/// Loss or recall, and results beyond the trained length.
std::vector<ResultTable> LanguageModelingRun::tables(const Json& metrics) const {
  const Json parts = evaluated_parts(metrics);
  const Json& last = parts.back();
  const std::string split = last.at("split");
  std::vector<ResultTable> tables;
  if (last.contains("by_pairs")) {
    tables = recall_tables(last, split);
    tables.front().line = recall_line(last, split);
  } else {
    tables = {text_table(parts)};
  }
  if (metrics.contains("lengths")) tables.push_back(lengths_table(metrics.at("lengths"), split));
  return tables;
}

std::vector<ResultTable> evaluation_tables(const Json& result) {
  std::vector<ResultTable> tables;
  if (result.contains("own")) {
    Json scores = result.at("own").at("scores");
    scores["split"] = result.at("own").at("split");
    tables = scores.contains("by_pairs") ? recall_tables(scores, scores.at("split"))
                                         : std::vector{text_table(Json::array({scores}))};
  }
  if (result.contains("recall")) tables.push_back(measured_table("Recall", result.at("recall")));
  if (result.contains("perplexity")) tables.push_back(measured_table("Perplexity", result.at("perplexity")));
  if (result.contains("passkey")) tables.push_back(passkey_table(result.at("passkey")));
  if (result.contains("tasks")) tables.push_back(questions_table(result.at("tasks")));
  return tables;
}

report::HtmlPage LanguageModelingRun::page(const Json& metrics) {
  Facts facts = {{"text", config.data.path}};
  if (data.tokenizer) facts.emplace_back("tokenizer", data.tokenizer->name());
  report::HtmlPage out = open_page(*this, {data_title(config), "Language model", facts, {}});
  add_tables(out, tables(metrics));
  LearningChart validation = {"Validation bits per byte", {"val_bits_per_byte"}};
  if (config.data.is_recall()) validation = {"Validation accuracy", {"val_accuracy"}};
  add_learning(out, folder(), {{"Losses", {"train_loss", "val_loss"}}, validation});
  return out;
}

const Comparison& language_comparison() {
  using Best = report::Column::Best;
  static const Comparison comparison = {{{{"parameters"}, "/parameters", 0},
                                         {{"loss", Best::lowest}, "/test/loss", 4},
                                         {{"perplexity", Best::lowest}, "/test/perplexity", 3},
                                         {{"bits per byte", Best::lowest}, "/test/bits_per_byte", 4},
                                         {{"recall %", Best::highest}, "/test/accuracy", 1, 100},
                                         {{"validation loss"}, "/validation/loss", 4}},
                                        {{"parameters", "/parameters"},
                                         {"loss", "/test/loss"},
                                         {"perplexity", "/test/perplexity"},
                                         {"bits_per_byte", "/test/bits_per_byte"},
                                         {"accuracy", "/test/accuracy"},
                                         {"validation_loss", "/validation/loss"}},
                                        "Comparison of language models",
                                        "Test text",
                                        draw_language_models,
                                        {"language.evaluation_batch", "tokenizer", "model.recompute"}};
  return comparison;
}

}  // namespace modewise::tasks
