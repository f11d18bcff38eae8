#include "cli/config_options.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace modewise::cli {

void ConfigOptions::add_to(CLI::App& command, const std::string& data_help, const std::string& model_help) {
  command.add_option("--data", data, data_help);
  command.add_option("--model", model, model_help);
  command.add_option("--config", config, "TOML file with any of the keys");
  command.add_option("--set", assignments, "one key, as in --set train.epochs=5; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--seed", seed, "seed of everything random (train.seed)")->check(CLI::NonNegativeNumber);
}

std::vector<std::string> ConfigOptions::all_assignments() const {
  std::vector<std::string> all;
  if (!model.empty()) all.push_back("model.name=" + model);
  if (!data.empty()) all.push_back("data.path=" + data);
  if (seed >= 0) all.push_back("train.seed=" + std::to_string(seed));
  all.insert(all.end(), assignments.begin(), assignments.end());
  return all;
}

std::string absolute_path(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace modewise::cli
