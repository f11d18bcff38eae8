#include "cli/forecast_options.h"

namespace modewise::cli {

void ForecastConfigOptions::add_to(CLI::App& command) {
  ConfigOptions::add_to(command, "data file or folder: CSV, numeric text, NPY, NPZ (data.path)",
                        "model (model.name): hot, dlinear, patchtst, repeat, …");
}

tasks::ForecastConfig ForecastConfigOptions::load() const {
  tasks::ForecastConfig loaded = tasks::load_forecast_config(config, all_assignments());
  loaded.data.path = absolute_path(loaded.data.path);
  return loaded;
}

std::string forecast_config_help() {
  tasks::ForecastConfig defaults;
  return "Keys of --config and --set, with their defaults:\n\n" + fields_of(defaults).to_toml(true);
}

}  // namespace modewise::cli
