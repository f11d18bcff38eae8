#pragma once
// The options by which commands receive a language model from a file, with another attention if asked.

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "modewise/models/language/files.h"

namespace modewise::cli {

struct ModelOptions {
  std::string model, tokenizer, attention, fold, window, slots, precision;
  std::vector<std::string> assignments;

  void add_to(CLI::App& command);
  /// The model with its tokenizer; what was left out or chosen on the way is logged.
  models::LoadedLanguageModel load() const;

 private:
  void adjust(models::LanguageModelConfig& config) const;
};

}  // namespace modewise::cli
