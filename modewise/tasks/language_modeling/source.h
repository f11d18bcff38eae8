#pragma once
// Language models for evaluation: a run or model files, optionally with changed attention or rotary scaling.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/tasks/language_modeling/run.h"
#include "modewise/text/tokenizer.h"

namespace modewise::tasks {

struct LanguageSource {
  std::string name;  // of the folder or file
  std::shared_ptr<models::LanguageModel> model;
  std::shared_ptr<text::Tokenizer> tokenizer;  // null: unknown
  std::shared_ptr<LanguageModelingRun> run;    // with the same model and tokenizer; null: not a run
  std::vector<int64_t> end_ids = {};           // of the model's files, as in GenerationConfig
};

/// Whether `path` is a model folder or file (config.json, or a llama2.c .bin), not a run.
bool is_language_model(const std::filesystem::path& path);

/// Opens a run with its best weights, or a model; `tokenizer` replaces its own ("": no). Its tokenizer puts a
/// begin token before a text if the run's does before documents, or by `bos` (text::override_begin).
LanguageSource open_language_source(const std::filesystem::path& path, const std::string& tokenizer = "",
                                    const std::string& bos = "auto");

/// Applies changes such as "attention.type=lambda", "rope.scaling=yarn". Another attention type resets the
/// other attention fields to their defaults.
models::LanguageModelConfig changed_config(models::LanguageModelConfig config,
                                           const std::vector<std::string>& changes);

/// A model of `config`, with the same sizes, and the weights of `model`; latents as in language_latents.h.
/// Warns about initialized latents.
std::shared_ptr<models::LanguageModel> remade_model(const models::LanguageModel& model,
                                                    const models::LanguageModelConfig& config);

}  // namespace modewise::tasks
