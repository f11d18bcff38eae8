#pragma once
// Finished runs side by side: seeds of one config are one row, mean ± standard deviation.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/report/table.h"
#include "modewise/tasks/forecast_config.h"

namespace modewise::tasks {

struct FinishedRun {
  std::filesystem::path path;
  ForecastConfig config;
  nlohmann::ordered_json metrics;  // metrics.json
  std::string data_hash;
};

/// Errors: no_input when a folder is no run or has not finished.
FinishedRun read_finished_run(const std::filesystem::path& path);

/// Runs that differ in nothing but the seed.
struct RunGroup {
  std::string name;  // the model, with the settings in which groups of one model differ
  std::string task;  // data, lookback and horizon: only rows of one task may be compared
  std::vector<FinishedRun> runs;

  /// A number of each run's metrics.json by its JSON pointer, such as "/test/scaled/mse"; runs without it
  /// left out.
  std::vector<double> values(const std::string& pointer) const;
};

/// Grouped, in order of first appearance; groups of one task stand together.
std::vector<RunGroup> group_runs(std::vector<FinishedRun> runs);

/// The table of `compare`.
report::Table comparison_table(const std::vector<RunGroup>& groups);
nlohmann::ordered_json comparison_json(const std::vector<RunGroup>& groups);

double mean(const std::vector<double>& values);
/// Of a sample (n − 1); nothing for fewer than two values.
std::optional<double> standard_deviation(const std::vector<double>& values);

}  // namespace modewise::tasks
