#pragma once
// Config of language modelling runs: text, tokenizer, model, evaluation, training and output.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/language_modeling/config.h"
#include "modewise/models/language_modeling/config.h"
#include "modewise/tasks/run/settings.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct LanguageOptions {
  int64_t evaluation_batch = 8;                   // batch size of evaluation, in windows
  int64_t validation_tokens = 0;                  // maximum tokens of each evaluation during training; 0: all
  std::vector<int64_t> lengths;                   // context lengths at which the test text is also evaluated
  std::vector<std::string> variants = {"plain"};  // methods of length extrapolation for full attention
  int64_t length_windows = 16, length_stride = 256;  // spans evaluated at each length, and their tokens
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
  std::string init;       // initial model, with its sizes and weights
  models::LanguageModelConfig model;
  LanguageOptions language;
  train::TrainConfig train;
  LanguageOutput output;

  LanguageModelingConfig();
  void fields(Fields& f);
  /// Checks rules between groups; messages begin with `source`.
  void validate(const std::string& source) const;
};

/// The config of `settings`: defaults < sizes of `init` < file < assignments. With `init` attention, context,
/// precision and dropout may be set; sizes fixed by its weights may not (config error).
LanguageModelingConfig load_language_config(const Settings& settings);

/// Model name for tables: "summary 0·8·8 w16", "full", "window 64" …
std::string model_title(const LanguageModelingConfig& config);
/// Data name: the file or folder name without extension.
std::string data_title(const LanguageModelingConfig& config);

}  // namespace modewise::tasks
