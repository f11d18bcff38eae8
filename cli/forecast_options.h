#pragma once
// The options by which commands receive a forecasting config: a file, assignments, and short forms of a few.

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "modewise/tasks/forecast_config.h"

namespace modewise::cli {

struct ForecastConfigOptions {
  std::string config, data, model;
  std::vector<std::string> assignments;
  int64_t seed = -1;

  void add_to(CLI::App& command);
  /// --model, --data, --seed and --set as assignments.
  std::vector<std::string> all_assignments() const;
  tasks::ForecastConfig load() const;
};

/// Every key of the config with its help and default, for --help.
std::string forecast_config_help();

}  // namespace modewise::cli
