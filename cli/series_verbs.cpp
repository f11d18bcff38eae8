#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/class_predictions.h"
#include "cli/class_tables.h"
#include "cli/series_options.h"
#include "cli/task_verbs.h"
#include "modewise/core/error.h"
#include "modewise/tasks/labelled_series/attention.h"
#include "modewise/tasks/labelled_series/compare.h"
#include "modewise/tasks/labelled_series/explain.h"
#include "modewise/tasks/labelled_series/report.h"
#include "modewise/tasks/labelled_series/run.h"
#include "modewise/tasks/test_part.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;

data::SeriesCollection load_noted(const tasks::SeriesRun& run, const std::string& data) {
  data::SeriesCollection set = tasks::load_run_cases(run, data);
  for (size_t i = 0; i < set.notes.size(); ++i)
    spdlog::log(i < set.warnings ? spdlog::level::warn : spdlog::level::info, "{}", set.notes[i]);
  return set;
}

int evaluate_series(const Program& program, const EvaluateOptions& options) {
  const tasks::SeriesRun run = tasks::open_series_run(options.run);
  const data::SeriesCollection set = load_noted(run, options.data);
  const bool first = options.data.empty() && options.split == "test" && tasks::test_is_unread(run.folder);
  const Json result = first ? tasks::judge_left_out_test(run, set)
                            : to_json(tasks::class_metrics(tasks::score_split(run, set, options.split)),
                                      options.split, run.trained.classes);
  print_result(program, result, series_text(result, options.detail));
  return 0;
}

int predict_series(const Program& program, const PredictOptions& options) {
  refuse_steps(options, "a classifier of series");
  wants_npz(options);  // a wrong ending is said before anything is computed
  require_new(options.out, options.force);
  const tasks::SeriesRun run = tasks::open_series_run(options.run);
  const data::SeriesCollection set = load_noted(run, options.data);
  ClassPredictions given = {
      "case", "cases", set.source, {}, run.trained.classes, tasks::score_split(run, set, "test", false)};
  for (const int64_t i : set.test) given.names.push_back(set.names[static_cast<size_t>(i)]);
  give_predictions(program, options, given);
  return 0;
}

void write_series_report_of(const std::string& path, const std::string& data,
                            const std::filesystem::path& out) {
  const tasks::SeriesRun run = tasks::open_series_run(path);
  tasks::write_series_report(
      run, tasks::load_run_cases(run, data, !data.empty() || !tasks::test_is_unread(run.folder)), out);
}

tasks::Explanation explain(const ExplainCommandOptions& options) {
  const tasks::SeriesRun run = tasks::open_series_run(options.run);
  return tasks::explain_series(run, load_noted(run, options.data), options.options);
}

/// Steps of the shortest case.
int64_t shortest(const data::SeriesCollection& set) {
  int64_t steps = set.length;
  for (const at::Tensor& series : set.cases) steps = std::min(steps, series.size(1));
  return steps;
}

int show_collection(const Program& program, const ShowDataOptions& options) {
  const tasks::LabelledSeriesConfig config =
      load_series_options(options.config.config, options.config.all_assignments());
  const data::SeriesCollection set = data::load_collection(config.data);
  if (program.json()) {
    Json json = {{"source", set.source},   {"name", set.name},
                 {"cases", set.count()},   {"variables", set.variables},
                 {"longest", set.length},  {"shortest", shortest(set)},
                 {"classes", set.classes}, {"protocol", config.data.protocol},
                 {"notes", set.notes},     {"splits", Json::object()}};
    for (const std::string& split : kSplits)
      json["splits"][split] = {{"cases", set.split(split).size()},
                               {"by_class", set.class_counts(set.split(split))}};
    program.print(json);
    return 0;
  }
  const int64_t least = shortest(set);
  std::string text =
      fmt::format("{}: {} cases of {} variable{}, {}{} steps; protocol {}\n", set.source, set.count(),
                  set.variables, set.variables == 1 ? "" : "s",
                  least == set.length ? "" : fmt::format("{} to ", least), set.length, config.data.protocol);
  for (const std::string& note : set.notes) text += "note: " + note + "\n";
  program.print(text + "\n" + class_count_table(set).to_text());
  return 0;
}

}  // namespace

const TaskVerbs series_verbs = {"series",
                                evaluate_series,
                                predict_series,
                                write_series_report_of,
                                tasks::series_comparison,
                                explain,
                                show_config<load_series_options>,
                                show_collection,
                                tasks::series_attention};

}  // namespace modewise::cli
