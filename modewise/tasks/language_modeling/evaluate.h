#pragma once
// `evaluate` for language models: a run's own metrics, perplexity by convention and length with changed
// attention or rotary embedding, passkeys, downstream tasks.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/tasks/language_modeling/perplexity.h"
#include "modewise/tasks/language_modeling/source.h"
#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

struct LanguageEvaluateOptions {
  std::string tokenizer;                 // "": the model's own
  std::string bos = "auto";              // auto | yes | no: the begin token before texts
  std::string text_field;                // of a .jsonl file of `data`; "": the run's own, or text
  std::string data, separator = "auto";  // "": the run's own text
  std::string split = "test";
  std::vector<std::string> conventions;
  std::vector<int64_t> lengths;  // empty: the trained length
  int64_t stride = 256, windows = 16, max_tokens = 0;
  std::vector<std::string> changes;  // changes of the model's config, such as "attention.type=lambda"
  bool stretch = false;              // rope.factor = length / trained length, if above 1
};

/// Documents to evaluate.
data::TokenPart evaluation_text(const LanguageSource& source, const LanguageEvaluateOptions& options);

/// Tokens of the longest document; 0 without documents.
int64_t longest_document(const data::TokenPart& text);

/// Evaluates every convention at every length (stream once): {"model", "changes", "text", "results": […]}.
nlohmann::ordered_json evaluate_language(const LanguageSource& source,
                                         const LanguageEvaluateOptions& options);
/// evaluate_language for these documents.
nlohmann::ordered_json evaluate_text(const LanguageSource& source, const data::TokenPart& text,
                                     const LanguageEvaluateOptions& options);
/// Evaluates a recall run on the samples of options.split at each length:
/// {"model", "changes", "results": [{"length", "accuracy", …}]}.
nlohmann::ordered_json evaluate_recall(const LanguageSource& source, const LanguageEvaluateOptions& options);

/// The config of `model` with the changes, and with rotary scaling for `length` if options.stretch.
models::LanguageModelConfig evaluation_config(const models::LanguageModelConfig& model,
                                              const LanguageEvaluateOptions& options, int64_t length);

/// Evaluation options; keys that begin with "model." change the model's config.
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

/// Short options of `evaluate` for them.
std::vector<ShortOption> language_evaluate_options();

/// Evaluates a run or a model.
Result evaluate_language_model(const EvaluateRequest& request);

}  // namespace modewise::tasks
