#pragma once
// The options by which commands receive a forecasting config.

#include "cli/config_options.h"
#include "modewise/tasks/forecast/config.h"

namespace modewise::cli {

struct ForecastConfigOptions : ConfigOptions {
  void add_to(CLI::App& command);
};

tasks::ForecastConfig load_forecast_options(const std::string& file,
                                            const std::vector<std::string>& assignments);

}  // namespace modewise::cli
