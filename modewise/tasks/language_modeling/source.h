#pragma once
// A language model to be evaluated: a run, or a model's files; as it is, or with other attention or rotary
// scaling.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/tasks/language_modeling/config.h"
#include "modewise/text/tokenizer.h"

namespace modewise::tasks {

struct LanguageSource {
  std::string name;  // of the folder or file
  std::shared_ptr<models::LanguageModel> model;
  std::shared_ptr<text::Tokenizer> tokenizer;  // null where none is known
  std::optional<LanguageModelingConfig> run;           // the config of a run
};

/// Whether `path` is a model's folder or file (config.json, or a llama2.c .bin) and no run.
bool is_language_model(const std::filesystem::path& path);

/// A run with its best weights, or a model; `tokenizer` ("" for its own) replaces the one beside it.
LanguageSource open_language_source(const std::filesystem::path& path, const std::string& tokenizer = "");

/// What an evaluation changes of a model: fields as "attention.type=lambda", "rope.scaling=yarn". With
/// another form the other fields of the attention begin at their defaults.
models::LanguageModelConfig changed_config(models::LanguageModelConfig config,
                                           const std::vector<std::string>& changes);

/// The weights of `model` in a model of `config`, whose sizes must be the same; latents as language_latents.h
/// says. What of them was made up is warned of.
std::shared_ptr<models::LanguageModel> remade_model(const models::LanguageModel& model,
                                                    const models::LanguageModelConfig& config);

}  // namespace modewise::tasks
