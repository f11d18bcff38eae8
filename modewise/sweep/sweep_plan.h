#pragma once
// Sweep definition: a grid of settings × seeds for `train TASK`, from a TOML file:
//
//   task = "forecast"
//   config = "etth1.toml"               # relative to this file; optional
//   data = "ETTh1.csv"                  # relative to this file; --data overrides it
//   seeds = [1, 2, 3]
//   [settings]                          # for every run
//   train.epochs = 10
//   [[axis]]
//   name = "heads"
//   key = "model.heads"                 # one setting, several values …
//   values = [1, 2, 4]
//   [[axis]]
//   name = "attention"                  # … or named choices with any settings
//   choices = [
//     { name = "product", set = { model.attention.combine = "product" } },
//     { name = "none", set = { model.attention.kernel = "none" } },
//   ]
//   [[metric]]                          # in metrics.json; optional: default is the task's validation metric
//   path = "/best/val_mse"
//   name = "validation MSE"
//   best = "lowest"                   # default: that of the task's own metric, else none
//   decimals = 3
//
// No run evaluates the test split (train --no-test): a sweep selects models, and a test split that selects
// models no longer evaluates them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "modewise/core/error.h"

namespace modewise::sweep {

/// Maximum number of runs: grid times seeds.
inline constexpr int64_t kMaxRuns = 100'000;
/// Decimals that a double can show.
inline constexpr int64_t kMaxDecimals = 17;

struct SweepMetric {
  std::string path;             // JSON pointer into metrics.json
  std::string name;             // heading of its column
  std::string best = "lowest";  // lowest | highest | none
  int64_t decimals = 3;         // 0 to kMaxDecimals
  double factor = 1;            // 100 for percent

  /// Throws errors of `kind` that begin with `place`: the path is not a JSON pointer, decimals are out of
  /// range, the factor is not finite.
  void validate(ErrorKind kind, const std::string& place) const;
  bool operator==(const SweepMetric&) const = default;
};

/// A task: its name, its command after `train`, its validation metrics and the keys of its settings.
struct SweepTask {
  std::string name, command;
  std::vector<SweepMetric> metrics;
  std::vector<std::string> keys = {};
};

struct SweepRun {
  std::string name;                 // letters, digits, '.', '_', '-': folder of the run
  std::vector<std::string> labels;  // the choice for each axis
  int64_t seed = 0;
  std::vector<std::string> settings;  // "key=value", in order of application
};

struct SweepPlan {
  std::string name;  // `name` in the file, or the file name
  std::string task;  // a SweepTask's name
  std::string config, data;
  std::vector<std::string> axes;
  std::vector<SweepMetric> metrics;
  std::vector<SweepRun> runs;    // grid order: last axis fastest, seeds of a cell together
  bool default_metrics = false;  // the task's, of which a run may lack some
  std::string command = {};      // subcommand of `modewise train`; empty: the task
  bool reads_test = false;       // runs evaluate the test split: only for runs among which nothing is chosen
};

/// Overrides of the file from the command line.
struct SweepOverrides {
  std::string data;
  std::vector<int64_t> seeds;         // empty: the file's
  std::vector<std::string> settings;  // "key=value", applied last
  std::vector<std::string> metrics;   // paths, "validation.auc" or "/validation/auc"; empty: the file's
  bool reads_test = false;            // see SweepPlan; no sweep file can set it
};

/// `tasks`: the known tasks; the first is the default. Config errors with file and line for an invalid sweep,
/// for grids of more than kMaxRuns runs, and for metrics of the test split; the runs themselves check the
/// settings. Errors also for settings that would make a label false: a key of two axes, the key of an axis's
/// values in a group or in --set, data.path beside `data`, and train.seed.
SweepPlan read_sweep_plan(const std::string& path, const std::vector<SweepTask>& tasks,
                          const SweepOverrides& overrides = {});

/// The arguments after the program name that start or resume `run` in `folder`.
std::vector<std::string> training_arguments(const SweepPlan& plan, const SweepRun& run,
                                            const std::string& folder, int64_t threads, bool resume);

/// Everything that determines the results of a run: task, config, data and settings as one text.
std::string description(const SweepPlan& plan, const SweepRun& run);
/// The lines of a description without the paths of data, which may move.
std::vector<std::string> lines_without_paths(const std::string& description);

}  // namespace modewise::sweep
