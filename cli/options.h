#pragma once
// Shared options of commands: the config of a task (file, assignments and short options), and a language
// model from a file, optionally with another attention.

#include <CLI/App.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/files.h"
#include "modewise/tasks/run/task_spec.h"

namespace modewise::cli {

/// Adds the options; their assignments "key=value" are appended to `to`, which must outlive the command.
void add_short_options(CLI::App& command, const std::vector<tasks::ShortOption>& options,
                       std::vector<std::string>& to);

struct ConfigOptions {
  std::string config, data, model;
  std::vector<std::string> assignments, short_forms;
  int64_t seed = -1;

  /// Adds --data, --model (unless `model_help` is ""), --config, --set and --seed. `data_name` "data,--data"
  /// adds the data as an argument, too.
  void add_to(CLI::App& command, const std::string& data_help, const std::string& model_help,
              const std::string& data_name = "--data");
  /// All options as assignments.
  std::vector<std::string> all_assignments() const;
};

struct ModelOptions {
  std::string model, tokenizer, bos = "auto", attention, fold, window, summary_tokens, precision;
  std::vector<std::string> assignments;

  void add_to(CLI::App& command);
  /// Loads the model with its tokenizer; logs notes of the loader.
  models::LoadedLanguageModel load() const;

 private:
  void adjust(models::LanguageModelConfig& config) const;
};

}  // namespace modewise::cli
