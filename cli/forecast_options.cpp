#include "cli/forecast_options.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>

namespace modewise::cli {

void ForecastConfigOptions::add_to(CLI::App& command) {
  command.add_option("--data", data, "data file or folder: CSV, numeric text, NPY, NPZ (data.path)");
  command.add_option("--model", model, "model (model.name): hot, dlinear, patchtst, repeat, …");
  command.add_option("--config", config, "TOML file with any of the keys");
  command.add_option("--set", assignments, "one key, as in --set train.epochs=5; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--seed", seed, "seed of everything random (train.seed)")->check(CLI::NonNegativeNumber);
}

std::vector<std::string> ForecastConfigOptions::all_assignments() const {
  std::vector<std::string> all;
  if (!model.empty()) all.push_back("model.name=" + model);
  if (!data.empty()) all.push_back("data.path=" + data);
  if (seed >= 0) all.push_back("train.seed=" + std::to_string(seed));
  all.insert(all.end(), assignments.begin(), assignments.end());
  return all;
}

tasks::ForecastConfig ForecastConfigOptions::load() const {
  tasks::ForecastConfig loaded = tasks::load_forecast_config(config, all_assignments());
  // Absolute, so that a run finds its data from any folder.
  if (!loaded.data.path.empty())
    loaded.data.path = std::filesystem::absolute(loaded.data.path).lexically_normal().string();
  return loaded;
}

std::string forecast_config_help() {
  tasks::ForecastConfig defaults;
  return "Keys of --config and --set, with their defaults:\n\n" + fields_of(defaults).to_toml(true);
}

}  // namespace modewise::cli
