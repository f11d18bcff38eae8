#pragma once
// Tokenization of a run's texts to model input, and model sizes from tokenizer and config.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "modewise/data/text/text_set.h"
#include "modewise/models/text/masked_language_model.h"
#include "modewise/models/text/text_classifier.h"
#include "modewise/tasks/text/config.h"
#include "modewise/text/text_frame.h"

namespace modewise::tasks {

struct TextReading {
  std::shared_ptr<text::Tokenizer> tokenizer;
  text::TextFrame frame;
  int64_t length = 0;  // maximum tokens, including special tokens

  /// A sample with special tokens; data errors name the sample.
  text::FramedText framed(const data::TextSet& set, int64_t sample) const;
  models::TextInput input(const data::TextSet& set, std::span<const int64_t> samples) const;
};

/// Reading of a new run; sets the sizes of config.model from model.from or the tokenizer. Data and config
/// errors if tokenizer, model and data.length do not match.
TextReading begin_reading(TextTaskConfig& config);
/// Reading of a run whose config has all sizes; its tokenizer is in `folder`.
TextReading run_reading(const TextTaskConfig& config, const train::RunFolder& folder);
/// run_reading for the config file of a resumed run, else begin_reading.
TextReading reading_of(TextTaskConfig& config, const std::filesystem::path& config_file);

/// Learning rate factor of a parameter by text.layer_decay: decay^(layers + 1) for embeddings,
/// decay^(layers − l) for layer l (from 0), 1 for the head.
double layer_rate(const TextTaskConfig& config, std::string_view parameter);

/// Loads the weights of model.from, if set, into a new model; further positions are repeated or stretched by
/// text.longer.
void start_weights(const TextTaskConfig& config, models::TextClassifier& model);
void start_weights(const TextTaskConfig& config, models::MaskedLanguageModel& model);

}  // namespace modewise::tasks
