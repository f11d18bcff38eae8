#pragma once
// How a run's texts become the input of its model, and the model's sizes what tokenizer and texts ask for.

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
  int64_t length = 0;  // tokens of a text at most, its marks included

  /// A sample within its marks; data errors name the sample.
  text::FramedText framed(const data::TextSet& set, int64_t sample) const;
  models::TextInput input(const data::TextSet& set, std::span<const int64_t> samples) const;
};

/// The reading that a training begins with; sets the sizes of config.model: those of model.from, or the
/// tokenizer's. Data and config errors where tokenizer, model and data.length do not fit together.
TextReading begin_reading(TextTaskConfig& config);
/// The reading of a run whose config has all sizes; its tokenizer lies in `folder`.
TextReading run_reading(const TextTaskConfig& config, const train::RunFolder& folder);
/// The same for the config file of a run that is gone on with, else begin_reading.
TextReading reading_of(TextTaskConfig& config, const std::filesystem::path& config_file);

/// What text.layer_decay makes of a parameter's learning rate: decay^(layers + 1) for the codes,
/// decay^(layers − l) for layer l (from 0), 1 for what stands behind the layers.
double layer_rate(const TextTaskConfig& config, std::string_view parameter);

/// Sets the weights of a new model from model.from where that is named; positions beyond it are repeated or
/// stretched, as text.longer says.
void start_weights(const TextTaskConfig& config, models::TextClassifier& model);
void start_weights(const TextTaskConfig& config, models::MaskedLanguageModel& model);

}  // namespace modewise::tasks
