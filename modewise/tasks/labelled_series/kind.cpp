#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/labelled/class_predictions.h"
#include "modewise/tasks/labelled/class_tables.h"
#include "modewise/tasks/labelled/labelled_run.h"
#include "modewise/tasks/labelled_series/attention.h"
#include "modewise/tasks/labelled_series/compare.h"
#include "modewise/tasks/labelled_series/explain.h"
#include "modewise/tasks/labelled_series/kind.h"
#include "modewise/tasks/labelled_series/report.h"
#include "modewise/tasks/labelled_series/run.h"
#include "modewise/tasks/labelled_series/tables.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

data::SeriesCollection load_noted(const SeriesRun& run, const std::string& data) {
  data::SeriesCollection set = load_run_cases(run, data);
  log_notes(set);
  return set;
}

Result evaluate(const EvaluateRequest& options) {
  const SeriesRun run = open_series_run(options.run);
  const data::SeriesCollection set = load_noted(run, options.data);
  const bool first = options.data.empty() && options.split == "test" && test_is_unread(run.folder);
  const Json result = first ? judge_left_out_test(run, set)
                            : to_json(class_metrics(score_split(run, set, options.split)), options.split,
                                      run.trained.classes);
  return {result, series_text(result, options.detail)};
}

Result predict(const PredictRequest& options) {
  refuse_steps(options, "a classifier of series");
  wants_npz(options.out);  // a wrong ending is said before anything is computed
  require_new(options.out, options.force);
  const SeriesRun run = open_series_run(options.run);
  const data::SeriesCollection set = load_noted(run, options.data);
  ClassPredictions given = {
      "case", "cases", set.source, {}, run.trained.classes, score_split(run, set, "test", false)};
  for (const int64_t i : set.test) given.names.push_back(set.names[static_cast<size_t>(i)]);
  return give_predictions(options, given);
}

void write_report(const std::string& path, const std::string& data, const std::filesystem::path& out) {
  const SeriesRun run = open_series_run(path);
  write_series_report(run, load_run_cases(run, data, !data.empty() || !test_is_unread(run.folder)), out);
}

Explanation explain(const ExplainRequest& options) {
  const SeriesRun run = open_series_run(options.run);
  return explain_series(run, load_noted(run, options.data), options.options);
}

/// Steps of the shortest case.
int64_t shortest(const data::SeriesCollection& set) {
  int64_t steps = set.length;
  for (const at::Tensor& series : set.cases) steps = std::min(steps, series.size(1));
  return steps;
}

Result describe_data(const std::string& file, const std::vector<std::string>& assignments) {
  const LabelledSeriesConfig config = load_series_config(file, assignments);
  const data::SeriesCollection set = data::load_collection(config.data);
  const int64_t least = shortest(set);
  Json json = {{"source", set.source},   {"name", set.name},
               {"cases", set.count()},   {"variables", set.variables},
               {"longest", set.length},  {"shortest", least},
               {"classes", set.classes}, {"protocol", config.data.protocol},
               {"notes", set.notes},     {"splits", Json::object()}};
  for (const std::string& split : kSplits)
    json["splits"][split] = {{"cases", set.split(split).size()},
                             {"by_class", set.class_counts(set.split(split))}};
  std::string text =
      fmt::format("{}: {} cases of {} variable{}, {}{} steps; protocol {}\n", set.source, set.count(),
                  set.variables, set.variables == 1 ? "" : "s",
                  least == set.length ? "" : fmt::format("{} to ", least), set.length, config.data.protocol);
  for (const std::string& note : set.notes) text += "note: " + note + "\n";
  return {std::move(json), text + "\n" + class_count_table(set).to_text()};
}

bool owns(const std::filesystem::path& data) {
  return data.extension() == ".ts" || data == "motifs";
}

}  // namespace

const Kind labelled_series_kind = {
    .name = "series",
    .summary = "Trains a classifier of series, and judges it on the test cases.",
    .example = "modewise train series --train BasicMotions_TRAIN.ts --test BasicMotions_TEST.ts",
    .data_help = "folder with X_TRAIN.ts and X_TEST.ts, one of the two, or motifs (data.path)",
    .model_help = "model (model.name): patchtst, nearest, dlinear, tcn, resnet",
    .options = {{"--train", "data.train", "training file, .ts"},
                {"--test", "data.test", "test file, .ts"},
                {"--protocol", "data.protocol", "official, paper or tslib"},
                {"--attention", "model.attention.form", "full, axial, pooled or causal"},
                {"--fold", "model.attention.fold", "sizes such as 0,32"}},
    .validation = {{"/validation/accuracy", "validation accuracy %", "highest", 1, 100},
                   {"/validation/loss", "validation loss", "lowest", 3}},
    .owns = owns,
    .defaults = default_config<LabelledSeriesConfig>,
    .config = any_config<load_series_config>,
    .job = make_labelled_series_job,
    .evaluate = evaluate,
    .predict = predict,
    .write_report = write_report,
    .comparison = series_comparison,
    .explain = explain,
    .attention = series_attention,
    .describe_data = describe_data,
};

}  // namespace modewise::tasks
