#include "cli/config_options.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <nlohmann/json.hpp>

namespace modewise::cli {

void add_short_options(CLI::App& command, const std::vector<tasks::ShortOption>& options,
                       std::vector<std::string>& to) {
  using Takes = tasks::ShortOption::Takes;
  for (const tasks::ShortOption& option : options) {
    const auto set = [&to, key = option.key](const std::string& value) { to.push_back(key + "=" + value); };
    if (option.takes == Takes::nothing)
      command.add_flag_callback(
          option.flag, [set] { set("true"); }, option.help);
    else if (option.takes == Takes::list)
      command.add_option_function<std::vector<std::string>>(
          option.flag,
          // As a list in brackets, so that a name may hold a comma.
          [set](const std::vector<std::string>& values) { set(nlohmann::json(values).dump()); }, option.help);
    else
      command.add_option_function<std::string>(option.flag, set, option.help);
  }
}

void ConfigOptions::add_to(CLI::App& command, const std::string& data_help, const std::string& model_help) {
  command.add_option("--data", data, data_help);
  if (!model_help.empty()) command.add_option("--model", model, model_help);
  command.add_option("--config", config, "TOML file with any of the keys");
  command.add_option("--set", assignments, "one key, as in --set train.epochs=5; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--seed", seed, "seed of everything random (train.seed)")->check(CLI::NonNegativeNumber);
}

std::vector<std::string> ConfigOptions::all_assignments() const {
  std::vector<std::string> all = short_forms;
  if (!model.empty()) all.push_back("model.name=" + model);
  if (!data.empty()) all.push_back("data.path=" + data);
  if (seed >= 0) all.push_back("train.seed=" + std::to_string(seed));
  all.insert(all.end(), assignments.begin(), assignments.end());
  return all;
}

}  // namespace modewise::cli
