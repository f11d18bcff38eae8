#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/tasks/labelled/class_predictions.h"
#include "modewise/tasks/labelled/class_tables.h"
#include "modewise/tasks/test_part.h"
#include "modewise/tasks/volumes/compare.h"
#include "modewise/tasks/volumes/explain.h"
#include "modewise/tasks/volumes/kind.h"
#include "modewise/tasks/volumes/report.h"
#include "modewise/tasks/volumes/run.h"
#include "modewise/tasks/volumes/score_file.h"
#include "modewise/tasks/volumes/tables.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// A file of scores against the labels of its data set.
Result evaluate_file(const EvaluateRequest& options) {
  const ScoreFileName name = parse_score_file_name(options.run);
  require(!options.data.empty(), ErrorKind::usage, "a file of scores needs --data FILE with the labels");
  ScoreTable table = read_scores(options.run);
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
  const Json result = to_json(class_metrics(table), split, set.classes);
  return {result, classify_text(result, options.detail)};
}

Result evaluate(const EvaluateRequest& options) {
  if (fs::is_regular_file(options.run)) return evaluate_file(options);
  const ClassifyRun run = open_classify_run(options.run);
  const data::VolumeSet set = load_run_volumes(run, options.data);
  for (const std::string& note : set.notes) spdlog::info("{}", note);
  const bool first = options.data.empty() && options.split == "test" && test_is_unread(run.folder);
  const Json result =
      first ? judge_left_out_test(run, set)
            : to_json(class_metrics(score_split(run, set, options.split)), options.split, run.classes);
  return {result, classify_text(result, options.detail)};
}

Result predict(const PredictRequest& options) {
  refuse_steps(options, "a classifier");
  wants_npz(options.out);  // a wrong ending is said before anything is computed
  require_new(options.out, options.force);
  const ClassifyRun run = open_classify_run(options.run);
  const data::VolumeSet set = load_run_volumes(run, options.data);
  // Of new data everything, of the run's own the test volumes.
  const std::string split = options.data.empty() ? "test" : "all";
  ClassPredictions given = {"volume", "volumes",   set.source,
                            {},       run.classes, score_split(run, set, split, false)};
  for (const int64_t i : set.split(split)) given.names.push_back(set.names[static_cast<size_t>(i)]);
  return give_predictions(options, given);
}

void write_report(const std::string& path, const std::string& data, const fs::path& out) {
  const ClassifyRun run = open_classify_run(path);
  write_classify_report(run, load_run_volumes(run, data, !data.empty() || !test_is_unread(run.folder)), out);
}

Explanation explain(const ExplainRequest& options) {
  const ClassifyRun run = open_classify_run(options.run);
  return explain_classifier(run, load_run_volumes(run, options.data), options.options);
}

Result describe_data(const std::string& file, const std::vector<std::string>& assignments) {
  const ClassifyConfig config = load_classify_config(file, assignments);
  const data::VolumeSet set = data::load_volumes(config.data);
  Json json = {{"source", set.source},   {"flag", set.flag},           {"volumes", set.count()},
               {"size", set.size()},     {"channels", set.channels()}, {"missing", set.masked()},
               {"classes", set.classes}, {"notes", set.notes},         {"splits", Json::object()}};
  for (const std::string& split : kSplits)
    json["splits"][split] = {{"volumes", set.split(split).size()},
                             {"by_class", set.class_counts(set.split(split))}};
  std::string text = fmt::format("{}: {} volumes of {} voxels, {} channel{}{}\n", set.source, set.count(),
                                 fmt::join(set.size(), " × "), set.channels(), set.channels() == 1 ? "" : "s",
                                 set.masked() ? ", some smaller or with missing voxels" : "");
  for (const std::string& note : set.notes) text += "note: " + note + "\n";
  return {std::move(json), text + "\n" + class_count_table(set).to_text()};
}

/// Whether an NPZ has MedMNIST's arrays, or images with labels.
bool holds_volumes(const fs::path& file) {
  if (!fs::is_regular_file(file)) return false;
  const std::vector<std::string> names = io::npz_names(file.string());
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return has("train_images") || (has("images") && has("labels"));
}

bool owns(const fs::path& data) {
  const std::string name = data.string();
  return name.ends_with(".nii") || name.ends_with(".nii.gz") ||
         (name.ends_with(".npz") && holds_volumes(data));
}

/// A file of scores.
bool opens(const fs::path& path) {
  return path.extension() == ".csv" && fs::is_regular_file(path);
}

}  // namespace

const Kind volumes_kind = {
    .name = "classify",
    .summary = "Trains a classifier of volumes, and judges it on the test volumes.",
    .example = "modewise train classify --data adrenalmnist3d.npz",
    .data_help = "volumes: MedMNIST NPZ, NPZ or NPY with labels, folder of NIfTI (data.path)",
    .model_help = "model (model.name): hot, transformer, timesformer, mvit, resnet18, resnet50",
    .validation = {{"/validation/auc", "validation AUC %", "highest", 1, 100},
                   {"/validation/accuracy", "validation accuracy %", "highest", 1, 100}},
    .owns = owns,
    .opens = opens,
    .defaults = default_config<ClassifyConfig>,
    .config = any_config<load_classify_config>,
    .job = make_volumes_job,
    .evaluate = evaluate,
    .predict = predict,
    .write_report = write_report,
    .comparison = classify_comparison,
    .explain = explain,
    .describe_data = describe_data,
};

}  // namespace modewise::tasks
