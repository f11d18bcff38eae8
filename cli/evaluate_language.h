#pragma once
// The options of `evaluate` that are for language models alone.

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "modewise/tasks/language/evaluate.h"

namespace modewise::cli {

struct LanguageEvaluateFlags {
  tasks::LanguageEvaluateOptions measure;
  std::string rope;
  double factor = 0;
  bool passkey = false;
  std::vector<double> depths;
  int64_t trials = 4, seed = 0;
  std::vector<std::string> tasks;  // TOML files
  std::string task_data;
  int64_t limit = 0;

  void add_to(CLI::App& command);
};

}  // namespace modewise::cli
