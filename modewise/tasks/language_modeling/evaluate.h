#pragma once
// `evaluate` for language models: a run's own figures, perplexity under conventions and at lengths with the
// attention or the rotary codes changed, passkeys, questions.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/tasks/task_spec.h"
#include "modewise/tasks/language_modeling/perplexity.h"
#include "modewise/tasks/language_modeling/source.h"

namespace modewise::tasks {

struct LanguageEvaluateOptions {
  std::string tokenizer;                 // "": the model's own
  std::string data, separator = "auto";  // "": the split of the run's own text
  std::string split = "test";
  std::vector<std::string> conventions;
  std::vector<int64_t> lengths;  // empty: the trained one
  int64_t stride = 256, windows = 16, max_tokens = 0;
  std::vector<std::string> changes;  // of the model's config, such as "attention.type=lambda"
  bool stretch = false;              // rope.factor is length / trained length where that is above 1
};

/// The documents to evaluate.
data::TokenPart evaluation_text(const LanguageSource& source, const LanguageEvaluateOptions& options);

/// Every convention at every length (stream once). {"model", "changes", "text", "results": […]}
nlohmann::ordered_json evaluate_language(const LanguageSource& source,
                                         const LanguageEvaluateOptions& options);
/// The same of these documents.
nlohmann::ordered_json evaluate_text(const LanguageSource& source, const data::TokenPart& text,
                                     const LanguageEvaluateOptions& options);
/// A run of recall: the held-back samples of options.split, made as long as each length.
/// {"model", "changes", "results": [{"length", "accuracy", …}]}
nlohmann::ordered_json evaluate_recall(const LanguageSource& source, const LanguageEvaluateOptions& options);

/// The config of `model` with the changes, and its rotary codes stretched to `length` where that is wanted.
models::LanguageModelConfig evaluation_config(const models::LanguageModelConfig& model,
                                              const LanguageEvaluateOptions& options, int64_t length);

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
