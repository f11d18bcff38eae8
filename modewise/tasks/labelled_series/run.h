#pragma once
// A run that classifies series, from its config to its folder, and back from its folder to a classifier.
//
// Besides the trainer's files a run keeps data.json (classes, sizes, counts, how the variables are scaled)
// and predictions.npz (scores and labels of the validation and test cases); metrics.json gains "validation"
// and, where training reads it, "test".

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "modewise/tasks/labelled/class_metrics.h"
#include "modewise/tasks/labelled_series/config.h"
#include "modewise/tasks/trained_run.h"
#include "modewise/train/run_folder.h"

namespace modewise::tasks {

struct SeriesData {
  data::SeriesCollection set;
  std::string hash;
};
/// Loads what the config names, and checks that there is something to train, validate and test on.
SeriesData load_series_data(const LabelledSeriesConfig& config);
/// data.json of its runs.
nlohmann::ordered_json to_json(const SeriesData& data);

/// Trains, evaluates on the validation and test cases, and writes all of it. With `resume` the run goes on
/// where it was. Throws train::EvaluationInterrupted when a signal came after the training.
TrainedRun train_series_classifier(const LabelledSeriesConfig& config, const SeriesData& data,
                                   train::RunFolder& run, bool resume, bool accept_changes = false);

/// A run's classifier with its best weights.
struct SeriesRun {
  train::RunFolder folder;
  LabelledSeriesConfig config;
  data::TrainedSeries trained;
  std::string source;
  std::shared_ptr<models::SeriesClassifier> model;
};
/// Errors as RunFolder::open, and data errors naming the file that does not fit.
SeriesRun open_series_run(const std::filesystem::path& path);

/// Judges a run on the test cases that its training left unread, and writes what training would have:
/// metrics.json's "test" and predictions.npz. `set` is the run's own, whole. Returns the evaluation.
nlohmann::ordered_json judge_left_out_test(const SeriesRun& run, const data::SeriesCollection& set);

/// The cases the run was trained on, or those of the file or folder `path`: of one .ts file all are test
/// cases. Without `with_test` the test part stays unread.
data::SeriesCollection load_run_cases(const SeriesRun& run, const std::string& path, bool with_test = true);
/// Scores of a split, all of whose cases must have classes when `labelled`.
ScoreTable score_split(const SeriesRun& run, const data::SeriesCollection& set, const std::string& split,
                       bool labelled = true);

}  // namespace modewise::tasks
