#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "cli/class_predictions.h"
#include "cli/class_tables.h"
#include "cli/classify_options.h"
#include "cli/task_verbs.h"
#include "modewise/core/error.h"
#include "modewise/tasks/test_part.h"
#include "modewise/tasks/volumes/compare.h"
#include "modewise/tasks/volumes/explain.h"
#include "modewise/tasks/volumes/report.h"
#include "modewise/tasks/volumes/run.h"
#include "modewise/tasks/volumes/score_file.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void print_evaluation(const Program& program, const Json& evaluation, bool detail) {
  print_result(program, evaluation, classify_text(evaluation, detail));
}

/// A file of scores against the labels of its data set.
int evaluate_file(const Program& program, const EvaluateOptions& options) {
  const tasks::ScoreFileName name = tasks::parse_score_file_name(options.run);
  require(!options.data.empty(), ErrorKind::usage, "a file of scores needs --data FILE with the labels");
  tasks::ScoreTable table = tasks::read_scores(options.run);
  data::VolumeConfig config;
  config.path = options.data;
  const data::VolumeSet set = data::load_volumes(config);
  require(name.flag.empty() || set.flag.empty() || name.flag == set.flag, ErrorKind::data,
          "{}: scores of {}, but {} is {}", options.run, name.flag, options.data, set.flag);
  const std::string split = name.split == "val"  ? "validation"
                            : name.split.empty() ? options.split
                                                 : name.split;
  const std::vector<int64_t> samples = set.split(split);
  require(table.classes == std::ssize(set.classes) &&
              std::ssize(table.scores) == std::ssize(samples) * table.classes,
          ErrorKind::data, "{}: {} samples and {} classes, but the {} split of {} has {} and {}", options.run,
          std::ssize(table.scores) / table.classes, table.classes, split, options.data, samples.size(),
          set.classes.size());
  for (const int64_t i : samples) table.labels.push_back(set.labels[static_cast<size_t>(i)]);
  print_evaluation(program, to_json(tasks::class_metrics(table), split, set.classes), options.detail);
  return 0;
}

int evaluate(const Program& program, const EvaluateOptions& options) {
  if (fs::is_regular_file(options.run)) return evaluate_file(program, options);
  const tasks::ClassifyRun run = tasks::open_classify_run(options.run);
  const data::VolumeSet set = tasks::load_run_volumes(run, options.data);
  for (const std::string& note : set.notes) spdlog::info("{}", note);
  const bool first = options.data.empty() && options.split == "test" && tasks::test_is_unread(run.folder);
  print_evaluation(program,
                   first ? tasks::judge_left_out_test(run, set)
                         : to_json(tasks::class_metrics(tasks::score_split(run, set, options.split)),
                                   options.split, run.classes),
                   options.detail);
  return 0;
}

int predict(const Program& program, const PredictOptions& options) {
  refuse_steps(options, "a classifier");
  wants_npz(options);  // a wrong ending is said before anything is computed
  require_new(options.out, options.force);
  const tasks::ClassifyRun run = tasks::open_classify_run(options.run);
  const data::VolumeSet set = tasks::load_run_volumes(run, options.data);
  // Of new data everything, of the run's own the test volumes.
  const std::string split = options.data.empty() ? "test" : "all";
  ClassPredictions given = {"volume", "volumes",   set.source,
                            {},       run.classes, tasks::score_split(run, set, split, false)};
  for (const int64_t i : set.split(split)) given.names.push_back(set.names[static_cast<size_t>(i)]);
  give_predictions(program, options, given);
  return 0;
}

void write_report(const std::string& path, const std::string& data, const fs::path& out) {
  const tasks::ClassifyRun run = tasks::open_classify_run(path);
  tasks::write_classify_report(
      run, tasks::load_run_volumes(run, data, !data.empty() || !tasks::test_is_unread(run.folder)), out);
}

tasks::Explanation explain(const ExplainCommandOptions& options) {
  const tasks::ClassifyRun run = tasks::open_classify_run(options.run);
  return tasks::explain_classifier(run, tasks::load_run_volumes(run, options.data), options.options);
}

int show_data(const Program& program, const ShowDataOptions& options) {
  const tasks::ClassifyConfig config =
      load_classify_options(options.config.config, options.config.all_assignments());
  const data::VolumeSet set = data::load_volumes(config.data);
  if (program.json()) {
    Json json = {{"source", set.source},   {"flag", set.flag},           {"volumes", set.count()},
                 {"size", set.size()},     {"channels", set.channels()}, {"missing", set.masked()},
                 {"classes", set.classes}, {"notes", set.notes},         {"splits", Json::object()}};
    for (const std::string& split : kSplits)
      json["splits"][split] = {{"volumes", set.split(split).size()},
                               {"by_class", set.class_counts(set.split(split))}};
    program.print(json);
    return 0;
  }
  std::string text = fmt::format("{}: {} volumes of {} voxels, {} channel{}{}\n", set.source, set.count(),
                                 fmt::join(set.size(), " × "), set.channels(), set.channels() == 1 ? "" : "s",
                                 set.masked() ? ", some smaller or with missing voxels" : "");
  for (const std::string& note : set.notes) text += "note: " + note + "\n";
  program.print(text + "\n" + class_count_table(set).to_text());
  return 0;
}

}  // namespace

const TaskVerbs classify_verbs = {"classify",
                                  evaluate,
                                  predict,
                                  write_report,
                                  tasks::classify_comparison,
                                  explain,
                                  show_config<load_classify_options>,
                                  show_data};

}  // namespace modewise::cli
