#pragma once
// Everything a language model's run is told: text, tokenizer, model, how to judge it, training, output.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/language_modeling/config.h"
#include "modewise/models/language_modeling/config.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct LanguageOptions {
  int64_t evaluation_batch = 8;   // windows at a time in evaluation
  int64_t validation_tokens = 0;  // at most so many at each evaluation of the training; 0: all
  std::vector<int64_t> lengths;   // the test text is also predicted behind so many tokens
  std::vector<std::string> variants = {"plain"};  // ways to go beyond the trained length, of attention full
  int64_t length_windows = 16, length_stride = 256;  // predicted: so many stretches of so many tokens
  void fields(Fields& f);
};

struct LanguageOutput {
  bool report = true;        // report.html after training
  bool export_model = true;  // RUN/model as Hugging Face's files
  void fields(Fields& f);
};

struct LanguageModelingConfig {
  data::TextConfig data;
  std::string tokenizer;  // "": init's, or the token file's, or bytes
  std::string init;       // a model to go on from: its sizes and weights are taken
  models::LanguageModelConfig model;
  LanguageOptions language;
  train::TrainConfig train;
  LanguageOutput output;

  LanguageModelingConfig();
  void fields(Fields& f);
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
};

/// Defaults < the sizes of `init`'s model < `file` ("" for none) < `assignments` ("a.b=c"). With `init` the
/// attention, context, precision and dropout may be set; what its weights are made for may not (config
/// error).
LanguageModelingConfig load_language_config(const std::string& file, const std::vector<std::string>& assignments);

/// A name for tables: "causal 0·8·8 w16", "full", "window 64" …
std::string model_title(const LanguageModelingConfig& config);
/// The name of its text: the file's or folder's without its ending.
std::string data_title(const LanguageModelingConfig& config);

}  // namespace modewise::tasks
