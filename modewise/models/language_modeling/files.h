#pragma once
// Language models from files and back: folders as Hugging Face lays them out, and llama2.c's checkpoints.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/text/tokenizer.h"

namespace modewise::models {

struct LoadedLanguageModel {
  std::shared_ptr<LanguageModel> model;
  std::shared_ptr<text::Tokenizer> tokenizer;  // null when none lies with the model
  std::string layout;                          // "hugging face", "llama2.c version 0", …
  std::vector<std::string> notes;              // what was left out or chosen, a sentence each
};

/// Changes the config of a file before the model is built: another form of attention, a precision.
using AdjustConfig = std::function<void(LanguageModelConfig&)>;

/// The type that weights are kept in.
enum class KeptWeights {
  float32,       // whatever the precision of activations: for training
  as_activated,  // that of the activations: what runs in bfloat16 never has a float32 copy of its weights
};

/// `path`: a folder with config.json and model.safetensors (or its shards), a folder that holds such a folder
/// as `model`, or a .bin of llama2.c. Weights may be of any float type. Latents are taken as
/// language_latents.h says, which the notes tell. Every declared size is checked before memory is taken: data
/// errors name file, tensor and rule; no_input what is not there; general what the free memory cannot hold.
LoadedLanguageModel load_language_model(const std::filesystem::path& path, const AdjustConfig& adjust = {},
                                        KeptWeights kept = KeptWeights::float32);

struct SaveLanguageOptions {
  std::string dtype = "float32";         // float32 or bfloat16
  uint64_t shard_bytes = 5'000'000'000;  // a file's tensors at maximum, but for single larger ones
  std::shared_ptr<const text::Tokenizer> tokenizer = {};  // kept in the folder when given
};

/// Writes config.json, the weights and the tokenizer into `folder`, which is made. Fails with cannot_create
/// when a model lies there already.
void save_language_model(const std::filesystem::path& folder, const LanguageModel& model,
                         const SaveLanguageOptions& options = {});

/// Writes a llama2.c checkpoint of version 0 or 1. Models that it cannot say are a data error: other
/// attention than full, scaled rotary codes or another base, another epsilon than 1e-5, heads of another
/// width.
void save_llama2c(const std::filesystem::path& path, const LanguageModel& model, int version = 0);

/// Name and shape of every parameter that a model of this config has, in the order of its file.
struct LanguageTensor {
  std::string name;
  std::vector<int64_t> shape;
  bool optional;  // may be absent in a file: it then starts at zero
};
std::vector<LanguageTensor> language_tensors(const LanguageModelConfig& config);

}  // namespace modewise::models
