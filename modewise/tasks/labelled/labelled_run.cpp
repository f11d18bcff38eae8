#include "modewise/tasks/labelled/labelled_run.h"

#include <spdlog/spdlog.h>

#include <map>

#include "modewise/core/error.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/tasks/test_part.h"
#include "modewise/train/trainer.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using Arrays = std::map<std::string, io::Array>;

constexpr const char* kPredictions = "predictions.npz";

/// The evaluation of a split; its scores go into `arrays`.
Json judge(const data::LabelledSamples& set, const std::string& split, const Scorer& score,
           const AfterTest& after_test, Arrays& arrays) {
  const ScoreTable table = score(set.split(split));
  const ClassMetrics metrics = class_metrics(table);
  add_arrays(table, split, arrays);
  if (after_test && split == "test") after_test(table, metrics);
  return to_json(metrics, split, set.classes);
}

}  // namespace

void require_labels(const data::LabelledSamples& set, std::span<const int64_t> samples) {
  for (const int64_t i : samples)
    require(set.labels[static_cast<size_t>(i)] >= 0, ErrorKind::data, "{}: {} has no class", set.source,
            set.called(i));
}

void require_parts(const data::LabelledSamples& set, bool with_test) {
  const auto check = [&](const char* name, const std::vector<int64_t>& samples, bool wanted) {
    require(!wanted || !samples.empty(), ErrorKind::data, "{}: there are no {} {}", set.source, name,
            set.many);
    require_labels(set, samples);
  };
  check("training", set.train, true);
  check("validation", set.validation, true);
  check("test", set.test, with_test);
}

Json part_sizes(const data::LabelledSamples& set) {
  return {{"train", set.train.size()}, {"validation", set.validation.size()}, {"test", set.test.size()}};
}

void log_notes(const data::LabelledSamples& set) {
  for (size_t i = 0; i < set.notes.size(); ++i)
    spdlog::log(i < set.warnings ? spdlog::level::warn : spdlog::level::info, "{}", set.notes[i]);
}

TrainedRun train_and_judge(train::Task& task, const train::TrainConfig& config,
                           const data::LabelledSamples& set, train::RunFolder& run, bool resume,
                           bool accept_changes, const Scorer& score, const AfterTest& after_test) {
  TrainedRun result;
  result.training = train::train(task, config, run, resume, accept_changes);
  if (result.training.stopped_by_signal()) return result;
  result.metrics = run.read_metrics();
  Arrays arrays;
  result.metrics["test_read"] = config.test;
  result.metrics["validation"] = judge(set, "validation", score, after_test, arrays);
  if (config.test) result.metrics["test"] = judge(set, "test", score, after_test, arrays);
  io::write_npz(run.file(kPredictions).string(), arrays);
  return result;
}

Json judge_left_out_test(const train::RunFolder& run, const data::LabelledSamples& set,
                         const std::string& hash, const Scorer& score, const AfterTest& after_test) {
  require_labels(set, set.test);
  const std::string file = run.file(kPredictions).string();
  Arrays arrays = io::read_npz(file);
  Json evaluation = judge(set, "test", score, after_test, arrays);
  io::write_npz(file, arrays);
  write_test_figures(run, {{"test", evaluation}}, hash);
  return evaluation;
}

ScoreTable score_split(const data::LabelledSamples& set, const std::string& split, const Scorer& score,
                       bool labelled) {
  const std::vector<int64_t> samples = set.split(split);
  require(!samples.empty(), ErrorKind::data, "{}: there are no {} {}", set.source, split, set.many);
  if (labelled) require_labels(set, samples);
  return score(samples);
}

}  // namespace modewise::tasks
