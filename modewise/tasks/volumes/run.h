#pragma once
// A classification run from its config to its folder, and back from its folder to a classifier.
//
// Besides the trainer's files a run keeps data.json (classes, sizes, counts), predictions.npz (scores and
// labels of the validation and test samples) and, where the config asks for it, the test scores in a file as
// MedMNIST's evaluator writes it; metrics.json gains "validation" and "test", where training
// reads it.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/tasks/labelled/class_metrics.h"
#include "modewise/tasks/trained_run.h"
#include "modewise/tasks/volumes/config.h"
#include "modewise/train/run_folder.h"

namespace modewise::tasks {

struct ClassifyData {
  data::VolumeSet set;
  std::string hash;
};
/// Loads what the config names, and checks that there is something to train, validate and test on.
ClassifyData load_classify_data(const ClassifyConfig& config);
/// data.json of its runs.
nlohmann::ordered_json to_json(const ClassifyData& data);

/// Trains, evaluates on the validation and test volumes, and writes all of it. With `resume` the run goes on
/// where it was. Throws train::EvaluationInterrupted when a signal came after the training.
TrainedRun train_classifier(const ClassifyConfig& config, const ClassifyData& data, train::RunFolder& run,
                            bool resume, bool accept_changes = false);

/// A run's classifier with its best weights.
struct ClassifyRun {
  train::RunFolder folder;
  ClassifyConfig config;
  std::vector<std::string> classes;
  std::string flag, source, data_hash;
  std::shared_ptr<models::VolumeClassifier> model;
};
/// Errors as RunFolder::open, and data errors naming the file that does not fit.
ClassifyRun open_classify_run(const std::filesystem::path& path);

/// Judges a run on the test volumes that its training left unread, and writes what training would have:
/// metrics.json's "test", predictions.npz, the score file. `set` is the run's own, whole. Returns the
/// evaluation.
nlohmann::ordered_json judge_left_out_test(const ClassifyRun& run, const data::VolumeSet& set);

/// The volumes the run was trained on, or those of `path`; data errors that name what does not fit the model.
/// Without `with_test` the test part stays unread.
data::VolumeSet load_run_volumes(const ClassifyRun& run, const std::string& path, bool with_test = true);
/// Scores of a split, all of whose samples must have labels when `labelled`.
ScoreTable score_split(const ClassifyRun& run, const data::VolumeSet& set, const std::string& split,
                       bool labelled = true);

}  // namespace modewise::tasks
