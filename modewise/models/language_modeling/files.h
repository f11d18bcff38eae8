#pragma once
// Loading and saving language models: Hugging Face folders and llama2.c checkpoints.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/config_json.h"
#include "modewise/models/language_modeling/language_model.h"
#include "modewise/text/tokenizer.h"

namespace modewise::models {

struct LoadedLanguageModel {
  std::shared_ptr<LanguageModel> model;
  std::shared_ptr<text::Tokenizer> tokenizer;  // null if the model has none
  std::string layout;                          // "hugging face", "llama2.c version 0", …
  std::vector<std::string> notes;              // omissions and choices, one sentence each
  std::filesystem::path folder;                // of config.json; empty for llama2.c
  SpecialIds special;  // of config.json, and the end ids of generation_config.json; empty for llama2.c
  FileSampling sampling = {};  // of generation_config.json, not used by itself

  /// Replaces the tokenizer; whether it puts a begin token remains what config.json says, if it does.
  void set_tokenizer(std::shared_ptr<text::Tokenizer> other);
};

/// Adjusts the config of a file before the model is built: another attention type or precision.
using AdjustConfig = std::function<void(LanguageModelConfig&)>;

/// Dtype of the loaded weights.
enum class KeptWeights {
  float32,       // master weights, for training
  as_activated,  // dtype of the activations: no float32 copy for bf16 models
};

/// `path`: a folder with config.json and model.safetensors (or its shards), a folder with such a subfolder
/// `model`, or a .bin of llama2.c. Weights may have any floating type. Latents are taken as in latents.h and
/// reported in the notes. All declared sizes are checked before memory is allocated: data errors name file,
/// tensor and rule; no_input if files are missing; general if memory does not suffice.
LoadedLanguageModel load_language_model(const std::filesystem::path& path, const AdjustConfig& adjust = {},
                                        KeptWeights kept = KeptWeights::float32);

/// The config of such a path, without tokenizer and weights, except that a tied output layer is compared with
/// the embedding. Errors as for load_language_model.
LanguageModelConfig load_language_model_config(const std::filesystem::path& path);

/// The folder of config.json for a folder of load_language_model: `path` or its subfolder `model`; empty for
/// a file. no_input if neither has one.
std::filesystem::path language_model_folder(const std::filesystem::path& path);

struct SaveLanguageOptions {
  std::string dtype = "float32";         // float32 or bfloat16
  uint64_t shard_bytes = 5'000'000'000;  // maximum size of a shard, except for single larger tensors
  std::shared_ptr<const text::Tokenizer> tokenizer = {};  // saved in the folder if given
  /// bos_token_id and eos_token_id of config.json; where they are empty, those of the tokenizer.
  SpecialIds special = {};
  std::filesystem::path keep_from = {};  // folder whose generation_config.json is copied, if it has one
};

/// Whether a folder contains a model, complete or not.
bool holds_language_model(const std::filesystem::path& folder);
/// Removes the config, weights and tokenizer of a model's folder, config.json first; other files stay.
void remove_language_model(const std::filesystem::path& folder);

/// Writes config.json, weights and tokenizer into `folder`, creating it. cannot_create if it already contains
/// a model.
void save_language_model(const std::filesystem::path& folder, const LanguageModel& model,
                         const SaveLanguageOptions& options = {});

/// Writes a llama2.c checkpoint of version 0 or 1. Data error for models that the format cannot represent:
/// attention other than full, rotary scaling or another base, an epsilon other than 1e-5, other head widths.
void save_llama2c(const std::filesystem::path& path, const LanguageModel& model, int version = 0);

/// Name and shape of every parameter of a model with this config, in file order.
struct LanguageTensor {
  std::string name;
  std::vector<int64_t> shape;
  bool optional;  // may be missing in a file: then initially zero
};
std::vector<LanguageTensor> language_tensors(const LanguageModelConfig& config);

}  // namespace modewise::models
