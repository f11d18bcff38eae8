#pragma once
// The options by which commands receive a forecasting config.

#include "cli/config_options.h"
#include "modewise/tasks/forecast_config.h"

namespace modewise::cli {

struct ForecastConfigOptions : ConfigOptions {
  void add_to(CLI::App& command);
  tasks::ForecastConfig load() const;
};

/// Every key of the config with its help and default, for --help.
std::string forecast_config_help();

}  // namespace modewise::cli
