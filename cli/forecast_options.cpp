#include "cli/forecast_options.h"

namespace modewise::cli {

void ForecastConfigOptions::add_to(CLI::App& command) {
  ConfigOptions::add_to(command, "data file or folder: CSV, numeric text, NPY, NPZ (data.path)",
                        "model (model.name): hot, dlinear, patchtst, repeat, …");
}

tasks::ForecastConfig load_forecast_options(const std::string& file,
                                            const std::vector<std::string>& assignments) {
  tasks::ForecastConfig config = tasks::load_forecast_config(file, assignments);
  config.data.path = absolute_path(config.data.path);
  return config;
}

}  // namespace modewise::cli
