#pragma once
// `evaluate` for language models: a run's own figures, perplexity under conventions and at lengths, passkeys,
// questions.

#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/tasks/kind.h"
#include "modewise/tasks/language/evaluate.h"

namespace modewise::tasks {

/// What may be asked for; keys that begin with "model." change the model's config.
struct LanguageEvaluation {
  LanguageEvaluateOptions measure;
  std::string rope;
  double factor = 0;
  bool passkey = false;
  std::vector<double> depths;
  int64_t trials = 4, seed = 0;
  std::vector<std::string> tasks;  // TOML files
  std::string task_data;
  int64_t limit = 0;
  std::string report;  // HTML file
  void fields(Fields& f);
};

/// The flags of `evaluate` for these.
std::vector<ShortOption> language_evaluate_options();

/// Of a run or a model.
Result evaluate_language_model(const EvaluateRequest& request);

}  // namespace modewise::tasks
