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
#include "modewise/tasks/job.h"
#include "modewise/tasks/result.h"

namespace modewise::tasks {

/// A flag that stands for a key: `--masks m.tif` for `data.masks=m.tif`.
struct ShortOption {
  enum class Takes { value, list, nothing };  // a list: several arguments; nothing: key=true

  std::string flag, key, help;
  Takes takes = Takes::value;
};

/// A figure of metrics.json by which runs are chosen.
struct ValidationFigure {
  std::string path;  // JSON pointer
  std::string name;
  std::string best = "lowest";  // lowest | highest
  int64_t decimals = 3;
  double factor = 1;  // 100 for percent
};

/// One way to train that `--model auto` tries.
struct Candidate {
  std::string name;                   // letters, digits, '.', '_', '-'
  std::vector<std::string> settings;  // "key=value"
  bool fitted = false;                // at once, without steps
};

struct EvaluateRequest {
  std::string run, data, masks, split = "test";
  std::vector<std::string> further_runs = {};  // of a task that evaluates several together
  bool detail = false;
  std::vector<std::string> settings;  // "key=value" of the task's evaluate_options
};

struct PredictRequest {
  std::string run, data, out;
  std::string future = {};  // a file with what forecasts are told ahead
  int64_t steps = 0;        // 0: not said
  bool force = false;
  report::CsvReader csv_reader = report::CsvReader::program;
};

struct ExplainRequest {
  std::string run, data, masks;
  ExplainOptions options;
};

/// A config of any task, with its fields.
struct AnyConfig {
  std::shared_ptr<void> config;
  Fields fields;
};
/// load(file, assignments…), or the defaults when there is none.
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

/// Functions that a task does not have are null.
struct TaskSpec {
  std::string name;                                // in manifests: "volume_classification"
  std::string command;                             // of `train COMMAND`: "classify-volumes"
  std::string summary, example;                    // of `train COMMAND`
  std::string data_help, model_help;               // of --data and --model; "" for no --model
  std::vector<ShortOption> options = {};           // of `train NAME`
  std::string evaluate_title = {};                 // of the next ones, in the help of `evaluate`
  std::vector<ShortOption> evaluate_options = {};  // of `evaluate` for its runs
  bool evaluates_several = false;                  // runs at once
  bool in_shares = false;                          // whether processes evaluate and predict together

  std::vector<ValidationFigure> validation = {};  // the chief one first

  /// Whether data (a file, a folder, the name of a simulation) looks like this task's.
  bool (*owns)(const std::filesystem::path& data) = nullptr;
  /// Whether `path` is no run but a model or file that this task evaluates too.
  bool (*opens)(const std::filesystem::path& path) = nullptr;

  AnyConfig (*defaults)() = nullptr;
  /// Defaults < `file` ("" for none) < `assignments`.
  AnyConfig (*config)(const std::string& file, const std::vector<std::string>& assignments) = nullptr;
  /// What --model auto chooses from, for the data of a config; the most promising first.
  std::vector<Candidate> (*candidates)(const std::string& file,
                                       const std::vector<std::string>& assignments) = nullptr;
  /// The settings of a model that puts runs together, whose folders, as a list, stand where these hold
  /// {runs}; {splits} is how many of them in a row are one candidate on as many splits.
  std::vector<std::string> ensemble = {};
  /// Where the validation part is small: settings that part the same samples into training and validation
  /// anew, one a split, on which --model auto judges its best candidates too. None of them changes the test
  /// part.
  std::vector<std::string> (*splits)(const std::string& file,
                                     const std::vector<std::string>& assignments) = nullptr;
  /// The share of a full training below which one tells little: --model auto rather tries fewer candidates
  /// and splits.
  double min_share = 0;
  /// Settings with which what --model auto chose is trained once more, on the test part too.
  std::vector<std::string> (*refit)(const std::string& file,
                                    const std::vector<std::string>& assignments) = nullptr;
  /// What a training brings to run_job.
  std::unique_ptr<Job> (*job)() = nullptr;

  Result (*evaluate)(const EvaluateRequest&) = nullptr;
  Result (*predict)(const PredictRequest&) = nullptr;
  /// Writes the report of one run to `out`; `data`: where its data lies now, "" where it lay.
  void (*write_report)(const std::string& run, const std::string& data,
                       const std::filesystem::path& out) = nullptr;
  const Comparison& (*comparison)() = nullptr;
  Explanation (*explain)(const ExplainRequest&) = nullptr;
  AttentionMatrices (*attention)(const AttentionRequest&) = nullptr;
  /// What the data of a config holds.
  Result (*describe_data)(const std::string& file, const std::vector<std::string>& assignments) = nullptr;
};

/// What Kind::job is for a job that needs nothing.
template <class TaskJob>
std::unique_ptr<Job> make_job() {
  return std::make_unique<TaskJob>();
}

/// Whether predict's --out is an NPZ, of "", .csv and .npz; usage error for another ending.
bool wants_npz(const std::string& out);
/// Usage error when --steps or --future was given; `what` says what the run is.
void refuse_steps(const PredictRequest& request, const std::string& what);

}  // namespace modewise::tasks
