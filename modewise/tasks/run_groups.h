#pragma once
// Finished runs of any task side by side: seeds of one config are one row, mean ± standard deviation.

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/report/table.h"

namespace modewise::tasks {

struct FinishedRun {
  std::filesystem::path path;
  std::string model;                            // a name for tables: "hot sum"
  std::string task;                             // what may be compared: data and its sizes
  std::map<std::string, std::string> settings;  // that make another experiment
  int64_t seed = 0;
  nlohmann::ordered_json metrics;  // metrics.json
  std::string data_hash;
};

/// Metrics of a run's folder. Errors: no_input when it is no run, has not finished, or was stopped before its
/// evaluation; `task` is the word behind `train` in the advice.
nlohmann::ordered_json read_finished_metrics(const std::filesystem::path& path, const std::string& task);

/// The settings of `fields` but those that `is_incidental` (paths) and those that change no number.
std::map<std::string, std::string> settings_of(const Fields& fields,
                                               const std::vector<std::string>& is_incidental);

/// Runs that differ in nothing but the seed.
struct RunGroup {
  std::string name;  // the model, with the settings in which groups of one model differ
  std::string task;  // only rows of one task may be compared
  std::vector<FinishedRun> runs;

  /// A number of each run's metrics.json by its JSON pointer, such as "/test/scaled/mse"; runs without it
  /// left out.
  std::vector<double> values(const std::string& pointer) const;
};

/// Grouped, in order of first appearance; groups of one task stand together.
std::vector<RunGroup> group_runs(std::vector<FinishedRun> runs);
/// Whether group i begins another task than the one before it.
bool begins_task(const std::vector<RunGroup>& groups, size_t i);

/// Mean ± deviation of a number over a group's runs; empty where none has it.
report::Cell statistic(const RunGroup& group, const std::string& pointer, int decimals, double factor = 1);
/// {"task", "model", "runs": [{"path", "seed"}]}, and for each name the mean, deviation and values of its
/// pointer.
nlohmann::ordered_json group_json(const RunGroup& group,
                                  const std::vector<std::pair<std::string, std::string>>& pointers);

double mean(const std::vector<double>& values);
/// Of a sample (n − 1); nothing for fewer than two values.
std::optional<double> standard_deviation(const std::vector<double>& values);

}  // namespace modewise::tasks
