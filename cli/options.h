#pragma once
// The options by which commands receive a task's config (a file, assignments, and short forms of a few), and
// a language model from a file, with another attention if asked.

#include <CLI/App.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/files.h"
#include "modewise/tasks/task_spec.h"

namespace modewise::cli {

/// Adds each option; the assignments "key=value" that it stands for go into `to`, which must outlive the
/// command.
void add_short_options(CLI::App& command, const std::vector<tasks::ShortOption>& options,
                       std::vector<std::string>& to);

struct ConfigOptions {
  std::string config, data, model;
  std::vector<std::string> assignments, short_forms;
  int64_t seed = -1;

  /// --data, --model, --config, --set and --seed; `model_help` "" leaves --model out.
  void add_to(CLI::App& command, const std::string& data_help, const std::string& model_help);
  /// All of them as assignments.
  std::vector<std::string> all_assignments() const;
};

struct ModelOptions {
  std::string model, tokenizer, attention, fold, window, summary_tokens, precision;
  std::vector<std::string> assignments;

  void add_to(CLI::App& command);
  /// The model with its tokenizer; what was left out or chosen on the way is logged.
  models::LoadedLanguageModel load() const;

 private:
  void adjust(models::LanguageModelConfig& config) const;
};

}  // namespace modewise::cli
