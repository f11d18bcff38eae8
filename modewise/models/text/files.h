#pragma once
// Loading and saving text encoders in Hugging Face folders (config.json, model.safetensors or its shards,
// tokenizer). All declared sizes are checked before memory is allocated: data errors name file, tensor and
// rule; no_input if files are missing; general if memory does not suffice.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "modewise/models/text/config_json.h"
#include "modewise/models/text/masked_language_model.h"
#include "modewise/models/text/text_classifier.h"
#include "modewise/text/tokenizer.h"

namespace modewise::models {

/// The folder with config.json: `path` or its subfolder `model`; no_input if neither has one.
std::filesystem::path text_folder(const std::filesystem::path& path);

/// Reads its config.json.
TextFileConfig read_text_config(const std::filesystem::path& path);

/// The resolved config for training: `wanted`, or, if its `from` names a folder, that folder's kind and sizes
/// with the dropout, precision and attention of `wanted`.
TextModelConfig started_text_config(const TextModelConfig& wanted);

/// Loads pretrained weights from the folder `path` into a model built with started_text_config. All encoder
/// weights must exist; a missing pooler or head, a head for other classes, and parameters added by an
/// attention type keep their initial values; unused tensors are ignored. The rows of a head are reordered to
/// `classes`, the class names of the data (empty: taken in order). Returns one sentence for each such part.
std::vector<std::string> take_text_weights(TextClassifier& model, const std::filesystem::path& path,
                                           const std::vector<std::string>& classes = {});
std::vector<std::string> take_text_weights(MaskedLanguageModel& model, const std::filesystem::path& path);

template <class Model>
struct LoadedText {
  std::shared_ptr<Model> model;
  std::shared_ptr<text::Tokenizer> tokenizer;  // null if the model has none
  TextFileConfig file;
  std::vector<std::string> notes;  // omissions, one sentence each
};

/// Loads the complete model: a data error if pooler or head are missing.
LoadedText<TextClassifier> load_text_classifier(const std::filesystem::path& path);
LoadedText<MaskedLanguageModel> load_masked_language_model(const std::filesystem::path& path);

struct SaveTextOptions {
  std::vector<std::string> labels = {};  // class names; empty: LABEL_0, …
  bool regression = false;
  double scale = 1, shift = 0;  // regression: the saved model returns scale · y + shift
  std::shared_ptr<const text::Tokenizer> tokenizer = {};  // saved in the folder if given
  std::string dtype = "float32";                          // float32 or bfloat16
};

/// Writes config.json, weights and tokenizer into `folder`, creating it. cannot_create if it already contains
/// a model.
void save_text_model(const std::filesystem::path& folder, const TextClassifier& model,
                     const SaveTextOptions& options = {});
void save_text_model(const std::filesystem::path& folder, const MaskedLanguageModel& model,
                     const SaveTextOptions& options = {});

}  // namespace modewise::models
