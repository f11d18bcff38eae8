#pragma once
// Encoders of text from folders as Hugging Face lays them out (config.json, model.safetensors or its shards,
// a tokenizer) and back. Every declared size is checked before memory is taken: data errors name file, tensor
// and rule; no_input what is not there; general what the free memory cannot hold.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "modewise/models/text/config_json.h"
#include "modewise/models/text/masked_language_model.h"
#include "modewise/models/text/text_classifier.h"
#include "modewise/text/tokenizer.h"

namespace modewise::models {

/// The folder that holds config.json: `path` or its folder `model`. no_input where neither does.
std::filesystem::path text_folder(const std::filesystem::path& path);

/// Its config.json.
TextFileConfig read_text_config(const std::filesystem::path& path);

/// The config that a training begins with, resolved: `wanted`, or, where it names a folder in `from`, that
/// folder's kind and sizes with the dropouts, precision and attention of `wanted`.
TextModelConfig started_text_config(const TextModelConfig& wanted);

/// Sets a model that was made with started_text_config from the folder `path`. The encoder's weights must all
/// be there; a pooler or a head of the model that the folder lacks, and what a form of attention adds, stay
/// as they are, and what the model lacks is left out. Returns a sentence for each such part. A head of other
/// classes stays as it is.
std::vector<std::string> take_text_weights(TextClassifier& model, const std::filesystem::path& path);
std::vector<std::string> take_text_weights(MaskedLanguageModel& model, const std::filesystem::path& path);

template <class Model>
struct LoadedText {
  std::shared_ptr<Model> model;
  std::shared_ptr<text::Tokenizer> tokenizer;  // null when none lies with the model
  TextFileConfig file;
  std::vector<std::string> notes;  // what was left out, a sentence each
};

/// The whole model: a data error where the folder lacks the pooler or the head.
LoadedText<TextClassifier> load_text_classifier(const std::filesystem::path& path);
LoadedText<MaskedLanguageModel> load_masked_language_model(const std::filesystem::path& path);

struct SaveTextOptions {
  std::vector<std::string> labels = {};  // of the classes; LABEL_0, … when empty
  bool regression = false;
  std::shared_ptr<const text::Tokenizer> tokenizer = {};  // kept in the folder when given
  std::string dtype = "float32";                          // float32 or bfloat16
};

/// Writes config.json, the weights and the tokenizer into `folder`, which is made. Fails with cannot_create
/// when a model lies there already.
void save_text_model(const std::filesystem::path& folder, const TextClassifier& model,
                     const SaveTextOptions& options = {});
void save_text_model(const std::filesystem::path& folder, const MaskedLanguageModel& model,
                     const SaveTextOptions& options = {});

}  // namespace modewise::models
