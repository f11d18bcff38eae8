#pragma once
// A grid of settings × seeds over `train TASK`, from a TOML file:
//
//   task = "forecast"
//   config = "etth1.toml"               # beside the sweep's file; optional
//   data = "ETTh1.csv"                  # the same; --data goes before it
//   seeds = [1, 2, 3]
//   [settings]                          # of every run
//   train.epochs = 10
//   [[axis]]
//   name = "heads"
//   key = "model.heads"                 # one setting, several values …
//   values = [1, 2, 4]
//   [[axis]]
//   name = "attention"                  # … or choices with a name and any settings
//   choices = [
//     { name = "product", set = { model.attention.combine = "product" } },
//     { name = "none", set = { model.attention.kernel = "none" } },
//   ]
//   [[metric]]                          # of metrics.json; optional: what the task validates by
//   path = "/best/val_mse"
//   name = "validation MSE"
//   best = "lowest"
//   decimals = 3
//
// Every run leaves the test part of the data unread (train --no-test): a sweep is for choosing, and what is
// chosen by the test part is no longer judged by it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "modewise/core/error.h"

namespace modewise::sweep {

/// The largest grid: axes times seeds.
inline constexpr int64_t kMaxRuns = 100'000;
/// The most that a double shows.
inline constexpr int64_t kMaxDecimals = 17;

struct SweepMetric {
  std::string path;             // JSON pointer into metrics.json
  std::string name;             // heading of its column
  std::string best = "lowest";  // lowest | highest | none
  int64_t decimals = 3;         // 0 to kMostDecimals
  double factor = 1;            // 100 for percent

  /// Errors of `kind` that begin with `place`: a path that is no JSON pointer, decimals out of range, a
  /// factor that is not finite.
  void validate(ErrorKind kind, const std::string& place) const;
  bool operator==(const SweepMetric&) const = default;
};

/// A task: its name, its command after `train`, and its validation metrics.
struct SweepTask {
  std::string name, command;
  std::vector<SweepMetric> metrics;
};

struct SweepRun {
  std::string name;                 // letters, digits, '.', '_', '-': folder of the run
  std::vector<std::string> labels;  // the choice on each axis
  int64_t seed = 0;
  std::vector<std::string> settings;  // "key=value", in the order in which they act
};

struct SweepPlan {
  std::string name;  // the file's name, or `name` in it
  std::string task;  // a SweepTask's name
  std::string config, data;
  std::vector<std::string> axes;
  std::vector<SweepMetric> metrics;
  std::vector<SweepRun> runs;  // the grid in order, last axis fastest, seeds of one cell together
};

/// What the command line says over the file.
struct SweepOverrides {
  std::string data;
  std::vector<int64_t> seeds;         // empty: the file's
  std::vector<std::string> settings;  // "key=value", over all others
  std::vector<std::string> metrics;   // paths, "validation.auc" or "/validation/auc"; empty: the file's
};

/// `tasks` are those that there are, the first one where the file names none. Config errors with file and
/// line for what does not read as a sweep, for grids of more than kMostRuns, and for metrics of the test
/// part; settings are checked by the runs themselves.
SweepPlan read_sweep_plan(const std::string& path, const std::vector<SweepTask>& tasks,
                          const SweepOverrides& overrides = {});

/// The arguments behind the program's name that start `run` in `folder`, or go on with it there.
std::vector<std::string> training_arguments(const SweepPlan& plan, const SweepRun& run,
                                            const std::string& folder, int64_t threads, bool resume);

/// What the numbers of a run depend on: task, config, data and settings as one text.
std::string description(const SweepPlan& plan, const SweepRun& run);

}  // namespace modewise::sweep
