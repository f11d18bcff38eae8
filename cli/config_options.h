#pragma once
// The options by which commands receive a task's config: a file, assignments, and short forms of a few.

#include <CLI/App.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::cli {

struct ConfigOptions {
  std::string config, data, model;
  std::vector<std::string> assignments;
  int64_t seed = -1;

  virtual ~ConfigOptions() = default;

  /// `data_help` says what --data takes, `model_help` which models there are.
  void add_to(CLI::App& command, const std::string& data_help, const std::string& model_help);
  /// --model, --data, --seed and --set as assignments; a task with more short forms adds them.
  virtual std::vector<std::string> all_assignments() const;
};

/// Absolute, so that a run finds its data from any folder; "" stays "".
std::string absolute_path(const std::string& path);

/// Every key of a task's config with its help and default, for --help.
template <class Config>
std::string config_help() {
  Config defaults;
  return "Keys of --config and --set, with their defaults:\n\n" + fields_of(defaults).to_toml(true);
}

}  // namespace modewise::cli
