#pragma once
// Config of text runs: data, tokenizer, encoder, objective, training and output.

#include <cstdint>
#include <span>
#include <string>

#include "modewise/core/fields.h"
#include "modewise/data/text/config.h"
#include "modewise/models/text/config.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/run/idle_settings.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct TextOptions : ClassOptions {
  std::string objective = "classification";  // classification | regression | masked_lm
  double layer_decay = 1;                    // layer-wise learning rate decay
  std::string longer = "cut";  // cut | repeat | stretch, if data.length exceeds the positions of model.from
  int64_t validation_windows = 0;  // masked_lm: windows of each evaluation; 0: all

  TextOptions() { select = "auto"; }
  void fields(Fields& f);
};

struct TextOutput {
  bool report = true;        // report.html after training
  bool export_model = true;  // RUN/model in Hugging Face format
  void fields(Fields& f);
};

struct TextTaskConfig {
  data::TextDataConfig data;
  std::string tokenizer;  // "": tokenizer of model.from
  models::TextModelConfig model;
  data::MaskingConfig masking;
  TextOptions text;
  train::TrainConfig train;
  TextOutput output;

  TextTaskConfig();
  void fields(Fields& f);
  static std::span<const DependentSetting> dependents();
  /// Checks rules between groups; messages begin with `source`.
  void validate(const std::string& source) const;
  bool is(const char* objective) const { return text.objective == objective; }
};

/// Model name for tables: "bert 4×128 full", "roberta 12×768 axial 0·8·8" …
std::string model_title(const TextTaskConfig& config);
/// Data name: the GLUE task, or the file or folder name without extension.
std::string data_title(const TextTaskConfig& config);

}  // namespace modewise::tasks
