#include "modewise/tasks/text/config.h"

#include <fmt/format.h>

#include "modewise/core/error.h"
#include "modewise/data/text/glue.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

void TextOptions::fields(Fields& f) {
  f.add("objective", objective,
        "training objective: classification (of texts or pairs), regression, masked_lm (masked language "
        "modelling)",
        {.one_of = {"classification", "regression", "masked_lm"}});
  f.add("class_weights", class_weights,
        "classification: class weights in the loss: none, or balanced by class counts",
        {.one_of = {"none", "balanced"}});
  f.add("label_smoothing", label_smoothing, "classification: label smoothing, from 0 to 0.99",
        {.min = 0, .max = 0.99});
  f.add("layer_decay", layer_decay,
        "layer-wise learning rate decay: factor from each layer to the one below; 1 for the head",
        {.min = 0.01, .max = 1});
  f.add("longer", longer,
        "if data.length exceeds the positions of model.from: cut the texts, repeat the position embeddings "
        "block-wise, or stretch them (linear interpolation)",
        {.one_of = {"cut", "repeat", "stretch"}});
  f.add("select", select,
        "validation metric for the selection of the best weights; auto: accuracy (CoLA: matthews), pearson, "
        "or loss",
        {.one_of = {"auto", "auc", "accuracy", "matthews", "f1", "pearson", "spearman", "loss"}});
  f.add("evaluation_batch", evaluation_batch, "batch size of evaluation, in texts", {.min = 1, .max = 65536});
  f.add("validation_windows", validation_windows,
        "masked_lm: maximum windows of each evaluation during training; 0: all", {.min = 0});
}

void TextOutput::fields(Fields& f) {
  f.add("report", report, "write report.html after training");
  f.add("export_model", export_model, "write the model in Hugging Face format to RUN/model");
}

TextTaskConfig::TextTaskConfig() {
  train.epochs = 4;
  train.batch_size = 32;
  train.patience = 0;
  train.optimizer.learning_rate = 1e-4;
  train.optimizer.weight_decay = 0.01;
  train.schedule.warmup_steps = 100;
}

void TextTaskConfig::fields(Fields& f) {
  f.add("tokenizer", tokenizer,
        "tokenizer file or folder: vocab.txt, tokenizer.json …; empty: tokenizer of model.from",
        {.is_path = [](const std::string& given) { return given != "bytes"; }});
  f.group("data", data);
  f.group("model", model);
  f.group("masking", masking);
  f.group("text", text);
  f.group("train", train);
  f.group("output", output);
  train.output_fields(f);
}

std::span<const DependentSetting> TextTaskConfig::dependents() {
  static const DependentSetting rows[] = {
      {"data.classes", "text.objective", {"classification"}},
      {"data.label", "text.objective", {"classification", "regression"}},
      {"data.pair", "text.objective", {"classification", "regression"}},
      {"data.glue", "text.objective", {"classification", "regression"}},
      {"data.dev", "text.objective", {"classification", "regression"}},
      {"data.separator", "text.objective", {"masked_lm"}},
      {"data.allow_binary", "text.objective", {"masked_lm"}},
      {"text.class_weights", "text.objective", {"classification"}},
      {"text.label_smoothing", "text.objective", {"classification"}},
      {"text.validation_windows", "text.objective", {"masked_lm"}},
      {"masking", "text.objective", {"masked_lm"}},
  };
  return rows;
}

void TextTaskConfig::validate(const std::string& source) const {
  data.validate(source);
  model.validate(source);
  masking.validate(source);
  const std::string& select = text.select;
  const bool fits = select == "auto" || select == "loss" ||
                    (is("classification") && select != "pearson" && select != "spearman") ||
                    (is("regression") && (select == "pearson" || select == "spearman"));
  require(fits, ErrorKind::config, "{}: text.select = \"{}\" is not a metric of text.objective = \"{}\"",
          source, select, text.objective);
  train.validate();
}

std::string model_title(const TextTaskConfig& config) {
  const models::TextModelConfig& model = config.model;
  return fmt::format("{} {}×{} {}", model.kind, model.layers, model.width, model.attention.title());
}

std::string data_title(const TextTaskConfig& config) {
  if (const data::GlueLayout* layout = data::glue_layout_of(config.data.path)) return layout->title;
  return data_name(config.data.path);
}

}  // namespace modewise::tasks
