#pragma once
// A task is one value: its names, its options, how its runs are made, and what its runs offer beyond
// training, evaluation and reports. registry.cpp lists all tasks; nothing else does.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "modewise/report/csv_cell.h"
#include "modewise/tasks/run/attention_matrices.h"
#include "modewise/tasks/run/comparison.h"
#include "modewise/tasks/run/explanation.h"
#include "modewise/tasks/run/result.h"
#include "modewise/tasks/run/run.h"
#include "modewise/tasks/run/settings.h"

namespace modewise::tasks {

/// A short option for a config key: `--masks m.tif` for `data.masks=m.tif`.
struct ShortOption {
  enum class Takes { value, list, nothing };  // list: several arguments; nothing: key=true

  std::string flag, key, help;
  Takes takes = Takes::value;
};

/// A validation metric in metrics.json for model selection.
struct ValidationFigure {
  std::string path;  // JSON pointer
  std::string name;
  std::string best = "lowest";  // lowest | highest
  int64_t decimals = 3;
  double factor = 1;  // 100 for percent
};

struct EvaluateRequest {
  std::string run, data, masks, split = "test";
  std::vector<std::string> further_runs = {};  // for tasks that evaluate several runs together
  bool detail = false;
  std::vector<std::string> settings;  // "key=value" of the task's options of `evaluate`
};

struct PredictRequest {
  std::string run, data, out;
  std::string future = {};  // file with future covariates
  int64_t steps = 0;        // 0: not set
  bool force = false;
  report::CsvReader csv_reader = report::CsvReader::program;
};

struct ExplainRequest {
  std::string run, data, masks;
  ExplainOptions options;
};

/// `evaluate` with options of the task.
struct EvaluateOptions {
  std::string title;  // heading of the options in the help
  std::vector<ShortOption> options;
  bool several = false;  // whether it takes several runs
};

/// `predict`: classes, forecasts or maps of samples.
struct Predict {
  Result (*predict)(Run& run, const PredictRequest& request) = nullptr;
  bool steps = false;  // whether --steps and --future apply
  bool table = true;   // whether --out is one table, .csv or .npz
};

/// A candidate of `--model auto`.
struct Candidate {
  std::string name;                   // letters, digits, '.', '_', '-'
  std::vector<std::string> settings;  // "key=value"
  bool fitted = false;                // fitted directly, without training steps
};

/// Choices of a search that the data decide, the same for all of its trainings.
struct SearchChoices {
  std::vector<std::string> settings = {};      // "key=value"
  std::optional<ValidationFigure> figure = {};  // in place of the task's main metric
};

/// `train --model auto`: the search for a model by the validation split.
struct Search {
  /// Choices for the data of the settings, made before all others.
  SearchChoices (*choose)(const Settings&) = nullptr;
  /// Candidates for the data of the settings, most promising first.
  std::vector<Candidate> (*candidates)(const Settings&) = nullptr;
  /// Settings of an ensemble of runs; {runs} is replaced by the list of run folders, {splits} by the number
  /// of consecutive runs that are one candidate on several splits.
  std::vector<std::string> ensemble = {};
  /// Settings of further training/validation splits, for small validation splits, on which the best
  /// candidates are evaluated too. The test split is unchanged.
  std::vector<std::string> (*splits)(const Settings&) = nullptr;
  /// Minimum fraction of a full training for a useful result; below it fewer candidates and splits are tried.
  double min_share = 0;
  /// Settings to retrain the choice with all samples, including the test split.
  std::vector<std::string> (*refit)(const Settings&) = nullptr;
};

/// Description of a task; capabilities that it does not offer are empty.
struct TaskSpec {
  std::string name;                               // name in manifests: "volume_classification"
  std::string command;                            // COMMAND of `train COMMAND`: "classify-volumes"
  std::string subject;                            // what its runs are: "a classifier"
  std::string summary, example;                   // help of `train COMMAND`
  std::string data_help, model_help;              // help of --data and --model; "": no --model
  std::vector<ShortOption> options = {};          // of `train COMMAND`
  bool in_shares = false;                         // whether evaluate and predict support several processes
  std::vector<ValidationFigure> validation = {};  // main metric first

  /// Makes a run of the settings, without samples and model.
  std::unique_ptr<Run> (*create)(const Settings&) = nullptr;
  /// Describes the data of settings.
  Result (*describe_data)(const Settings&) = nullptr;
  const Comparison& (*comparison)() = nullptr;
  /// Whether `data` (a file, a folder, the name of a simulation) looks like data of this task.
  bool (*owns)(const std::filesystem::path& data) = nullptr;

  /// Whether `path` is a model or other file, not a run, that `evaluate` takes.
  bool (*opens)(const std::filesystem::path& path) = nullptr;
  /// In place of evaluate_run, for tasks that evaluate more than splits.
  Result (*evaluate)(const EvaluateRequest&) = nullptr;
  EvaluateOptions evaluate_options = {};
  Predict predict = {};
  std::string predict_with = {};  // the command in place of `predict`: "modewise generate"
  Explanation (*explain)(Run& run, const ExplainOptions&) = nullptr;
  AttentionMatrices (*attention)(const AttentionRequest&) = nullptr;
  std::optional<Search> search = {};
};

}  // namespace modewise::tasks
