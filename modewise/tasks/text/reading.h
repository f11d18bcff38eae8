#pragma once
// Tokenization of a run's texts to model input, and model sizes from tokenizer and config.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/data/text/text_set.h"
#include "modewise/models/text/masked_language_model.h"
#include "modewise/models/text/text_classifier.h"
#include "modewise/tasks/run/run.h"
#include "modewise/tasks/text/config.h"
#include "modewise/text/text_frame.h"

namespace modewise::tasks {

/// Names of texts, and the texts with special tokens.
using NamedTexts = std::vector<std::pair<std::string, text::FramedText>>;

struct TextReading {
  std::shared_ptr<text::Tokenizer> tokenizer;
  text::TextFrame frame;
  int64_t length = 0;  // maximum tokens, including special tokens

  /// A sample with special tokens; data errors name the sample.
  text::FramedText framed(const data::TextSet& set, int64_t sample) const;
  models::TextInput input(const data::TextSet& set, std::span<const int64_t> samples) const;
  /// Adds a warning with the number of texts of `set` that are cut at `length`.
  void warn_of_cuts(data::TextSet& set) const;
  /// Up to `count` texts of a split, evenly spaced. Data error for an empty split.
  NamedTexts spread(const data::TextSet& set, const std::string& split, int64_t count) const;
};

/// Reading of a new run; sets the sizes of config.model from model.from or the tokenizer. Data and config
/// errors if tokenizer, model and data.length do not match.
TextReading begin_reading(TextTaskConfig& config);
/// Reading of a run whose config has all sizes; its tokenizer is in `folder`.
TextReading run_reading(const TextTaskConfig& config, const train::RunFolder& folder);
/// The reading to train `run` with `config`: run_reading if its folder has a tokenizer, else begin_reading.
TextReading training_reading(TextTaskConfig& config, const Run& run);

/// Learning rate factor of a parameter by text.layer_decay: decay^(layers + 1) for embeddings,
/// decay^(layers − l) for layer l (from 0), 1 for the head.
double layer_rate(const TextTaskConfig& config, std::string_view parameter);

/// Loads the weights of model.from, if set, into a new model; further positions are repeated or stretched by
/// text.longer. A head's rows are reordered to `classes`, the class names of the data, if given.
void start_weights(const TextTaskConfig& config, models::TextClassifier& model,
                   const std::vector<std::string>& classes = {});
void start_weights(const TextTaskConfig& config, models::MaskedLanguageModel& model);

}  // namespace modewise::tasks
