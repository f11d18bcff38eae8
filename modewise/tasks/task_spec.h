#pragma once
// A task is one value: what it is called, its short options, what data it claims, and what each command does
// for its runs. kinds.cpp lists all tasks; nothing else does.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/report/csv_cell.h"
#include "modewise/tasks/attention_matrices.h"
#include "modewise/tasks/comparison.h"
#include "modewise/tasks/explanation.h"
#include "modewise/tasks/result.h"
#include "modewise/tasks/training.h"

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

/// A candidate of `--model auto`.
struct Candidate {
  std::string name;                   // letters, digits, '.', '_', '-'
  std::vector<std::string> settings;  // "key=value"
  bool fitted = false;                // fitted directly, without training steps
};

struct EvaluateRequest {
  std::string run, data, masks, split = "test";
  std::vector<std::string> further_runs = {};  // for tasks that evaluate several runs together
  bool detail = false;
  std::vector<std::string> settings;  // "key=value" of the task's evaluate_options
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

/// Config of any task, with its fields.
struct AnyConfig {
  std::shared_ptr<void> config;
  Fields fields;
};
/// The config returned by load(arguments…).
template <auto load, class... Arguments>
AnyConfig any_config(const Arguments&... arguments) {
  using Config = decltype(load(arguments...));
  const auto config = std::make_shared<Config>(load(arguments...));
  return {config, fields_of(*config)};
}
template <class Config>
AnyConfig default_config() {
  const auto config = std::make_shared<Config>();
  return {config, fields_of(*config)};
}

/// Description of a task; functions that it does not support are null.
struct TaskSpec {
  std::string name;                                // name in manifests: "volume_classification"
  std::string command;                             // COMMAND of `train COMMAND`: "classify-volumes"
  std::string summary, example;                    // help of `train COMMAND`
  std::string data_help, model_help;               // help of --data and --model; "": no --model
  std::vector<ShortOption> options = {};           // of `train COMMAND`
  std::string evaluate_title = {};                 // heading of evaluate_options in the help of `evaluate`
  std::vector<ShortOption> evaluate_options = {};  // of `evaluate` for its runs
  bool evaluates_several = false;                  // whether evaluate takes several runs
  bool in_shares = false;                          // whether evaluate and predict support several processes

  std::vector<ValidationFigure> validation = {};  // main metric first

  /// Whether `data` (a file, a folder, the name of a simulation) looks like data of this task.
  bool (*owns)(const std::filesystem::path& data) = nullptr;
  /// Whether `path` is a model or other file, not a run, that this task evaluates.
  bool (*opens)(const std::filesystem::path& path) = nullptr;

  AnyConfig (*defaults)() = nullptr;
  /// Defaults < `file` ("" for none) < `assignments`.
  AnyConfig (*config)(const std::string& file, const std::vector<std::string>& assignments) = nullptr;
  /// Candidates of --model auto for the data of a config, most promising first.
  std::vector<Candidate> (*candidates)(const std::string& file,
                                       const std::vector<std::string>& assignments) = nullptr;
  /// Settings of an ensemble of runs; {runs} is replaced by the list of run folders, {splits} by the number
  /// of consecutive runs that are one candidate on several splits.
  std::vector<std::string> ensemble = {};
  /// Settings of further training/validation splits, for small validation splits; --model auto also evaluates
  /// its best candidates on them. The test split is unchanged.
  std::vector<std::string> (*splits)(const std::string& file,
                                     const std::vector<std::string>& assignments) = nullptr;
  /// Minimum fraction of a full training for a useful result; below it --model auto tries fewer candidates
  /// and splits.
  double min_share = 0;
  /// Settings to retrain the choice of --model auto, including the test split.
  std::vector<std::string> (*refit)(const std::string& file,
                                    const std::vector<std::string>& assignments) = nullptr;
  /// Creates the job of a training for run_job.
  std::unique_ptr<Training> (*training)() = nullptr;

  Result (*evaluate)(const EvaluateRequest&) = nullptr;
  Result (*predict)(const PredictRequest&) = nullptr;
  /// Writes the report of one run to `out`; `data`: current location of its data, "": unchanged.
  void (*write_report)(const std::string& run, const std::string& data,
                       const std::filesystem::path& out) = nullptr;
  const Comparison& (*comparison)() = nullptr;
  Explanation (*explain)(const ExplainRequest&) = nullptr;
  AttentionMatrices (*attention)(const AttentionRequest&) = nullptr;
  /// Describes the data of a config.
  Result (*describe_data)(const std::string& file, const std::vector<std::string>& assignments) = nullptr;
};

/// TaskSpec::job for a default-constructible job.
template <class TaskJob>
std::unique_ptr<Training> make_training() {
  return std::make_unique<TaskJob>();
}

/// Whether predict's --out is an NPZ; "", .csv and .npz are valid, usage error for another extension.
bool wants_npz(const std::string& out);
/// Usage error if --steps or --future is set; `what` describes the run.
void refuse_steps(const PredictRequest& request, const std::string& what);

}  // namespace modewise::tasks
