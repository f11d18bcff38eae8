#pragma once
// Everything an encoder's run is told: texts, tokenizer, model, what it is trained to tell, training, output.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/text/config.h"
#include "modewise/models/text/config.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct TextOptions : ClassOptions {
  std::string objective = "classification";  // classification | regression | masked_lm
  double layer_decay = 1;              // of the learning rate, from each layer to the one below
  std::string longer = "cut";      // cut | repeat | stretch: texts longer than the positions of model.from
  int64_t validation_windows = 0;  // masked: at each evaluation; 0: all

  TextOptions() { select = "auto"; }
  void fields(Fields& f);
};

struct TextOutput {
  bool report = true;        // report.html after training
  bool export_model = true;  // RUN/model as Hugging Face's files
  void fields(Fields& f);
};

struct TextTaskConfig {
  data::TextDataConfig data;
  std::string tokenizer;  // "": that of model.from
  models::TextModelConfig model;
  data::MaskingConfig masking;
  TextOptions text;
  train::TrainConfig train;
  TextOutput output;

  TextTaskConfig();
  void fields(Fields& f);
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
  bool is(const char* objective) const { return text.objective == objective; }
};

/// As tasks::load_config.
TextTaskConfig load_text_config(const std::string& file, const std::vector<std::string>& assignments);

/// A name for tables: "bert 4×128 full", "roberta 12×768 tensor 0·8·8" …
std::string model_title(const TextTaskConfig& config);
/// The name of its data: GLUE's, or the file's or folder's without its ending.
std::string data_title(const TextTaskConfig& config);

}  // namespace modewise::tasks
