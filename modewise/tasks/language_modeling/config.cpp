#include "modewise/tasks/language_modeling/config.h"

#include <fmt/ranges.h>

#include <array>

#include "modewise/core/error.h"
#include "modewise/models/language_modeling/files.h"
#include "modewise/tasks/run/load_config.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {
namespace {

LanguageModelingConfig loaded(LanguageModelingConfig config, const Settings& settings) {
  load_settings(config, settings);
  return config;
}

/// Fields fixed by the weights of a model.
constexpr std::array<const char*, 9> kFixedByWeights = {
    "vocabulary", "width", "hidden", "layers", "heads", "kv_heads", "head_width", "norm_epsilon", "tied"};

void require_same_sizes(const models::LanguageModelConfig& wanted, const models::LanguageModelConfig& had,
                        const std::string& init) {
  models::LanguageModelConfig a = wanted.resolved(), b = had.resolved();
  const Fields left = fields_of(a), right = fields_of(b);
  for (size_t i = 0; i < left.list().size(); ++i)
    for (const char* name : kFixedByWeights)
      if (left.list()[i].path == name)
        require(Fields::value_text(left.list()[i]) == Fields::value_text(right.list()[i]), ErrorKind::config,
                "model.{} = {} does not match the weights of {}, which have {}", name,
                Fields::value_text(left.list()[i]), init, Fields::value_text(right.list()[i]));
}

}  // namespace

void LanguageOptions::fields(Fields& f) {
  f.add("evaluation_batch", evaluation_batch, "batch size of evaluation, in windows",
        {.min = 1, .max = 65536});
  f.add("validation_tokens", validation_tokens,
        "maximum tokens of each evaluation during training; 0: the whole validation text", {.min = 0});
  f.add(
      "lengths", lengths,
      "context lengths, in tokens, at which the test text (with --no-test the validation text) or recall is "
      "also evaluated after training",
      {.min = 2});
  f.add("variants", variants,
        "methods beyond the trained length: plain, or for full attention linear (PI), ntk or yarn scaling of "
        "the rotary embedding, or lambda (LM-Infinite: window of the trained length and 4 first tokens)",
        {.one_of = {"plain", "linear", "ntk", "yarn", "lambda"}});
  f.add("length_windows", length_windows, "number of spans of test text evaluated at each length",
        {.min = 1});
  f.add("length_stride", length_stride, "tokens of a span", {.min = 1});
}

void LanguageOutput::fields(Fields& f) {
  f.add("report", report, "write report.html after training");
  f.add("export_model", export_model, "write the model in Hugging Face format to RUN/model");
}

LanguageModelingConfig::LanguageModelingConfig() {
  train.epochs = 4;
  train.batch_size = 16;
  train.patience = 0;
  train.optimizer.learning_rate = 2e-3;
  train.optimizer.weight_decay = 0.1;
  train.optimizer.betas = {0.9, 0.95};
  train.schedule.warmup_steps = 100;
  train.schedule.min_ratio = 0.1;
}

void LanguageModelingConfig::fields(Fields& f) {
  f.add("tokenizer", tokenizer,
        "tokenizer: bytes, tokenizer.bin of llama2.c, a sentencepiece .model, a tokenizer.json, or a folder "
        "with one; empty: that of init or of the token file, else bytes",
        {.is_path = [](const std::string& text) { return text != "bytes"; }});
  f.add("init", init, "initial model: a run, a Hugging Face folder, or a llama2.c .bin", {.is_path = always});
  f.group("data", data);
  f.group("model", model);
  f.group("language", language);
  f.group("train", train);
  f.group("output", output);
  train.output_fields(f);
}

void LanguageModelingConfig::validate(const std::string& source) const {
  data.validate(source);
  model.validate(source);
  require(!data.is_recall() || tokenizer.empty(), ErrorKind::config,
          "{}: data.path = \"recall\" has synthetic tokens, so a tokenizer has no effect", source);
  for (const std::string& variant : language.variants)
    require(variant == "plain" || variant == "linear" || variant == "ntk" || variant == "yarn" ||
                model.attention.type == "full",
            ErrorKind::config, "{}: language.variants: {} needs full attention, but the model has {}", source,
            variant, model.attention.type);
  train.validate();
}

LanguageModelingConfig load_language_config(const Settings& settings) {
  LanguageModelingConfig probe;
  probe.model.attention.type.clear();  // detects whether a type is set
  probe = loaded(std::move(probe), settings);
  const std::string source = settings.file.empty() ? "options" : settings.file;
  LanguageModelingConfig config;
  if (settings.saved || is_run_config(settings.file)) {
    config.model.rope.level_lengths = false;  // default of runs from before this key existed
    config = loaded(std::move(config), settings);
  } else {
    if (!probe.init.empty()) config.model = models::load_language_model_config(probe.init);
    const models::LanguageModelConfig had = config.model;
    if (!probe.init.empty() && !probe.model.attention.type.empty()) config.model.attention = {};
    config = loaded(std::move(config), settings);
    if (!probe.init.empty()) require_same_sizes(config.model, had, probe.init);
    config.model.rope.require_effect(had.rope, source);
    LanguageModelingConfig plain;
    refuse_idle(fields_of(config), fields_of(plain), training_dependents(), source);
  }
  if (config.data.is_recall()) {
    require(config.init.empty() || config.model.vocabulary == config.data.recall.tokens(), ErrorKind::config,
            "{}: data.path = \"recall\" has {} tokens, but the model {} has {}: it needs a "
            "model trained on recall with the same data.recall.vocabulary",
            source, config.data.recall.tokens(), config.init, config.model.vocabulary);
    config.model.vocabulary = config.data.recall.tokens();
    config.model.context = config.data.recall.length;
  }
  Fields fields = fields_of(config);
  fields.make_paths_absolute();
  fields.validate(source);
  config.validate(source);
  return config;
}

std::string model_title(const LanguageModelingConfig& config) {
  const models::LanguageAttentionConfig attention = config.model.resolved().attention;
  std::string title = attention.type;
  if (!attention.fold.empty()) title += fmt::format(" {}", fmt::join(attention.fold, "·"));
  if (attention.window > 0) title += fmt::format(" w{}", attention.window);
  if (attention.summary_tokens > 1) title += fmt::format(" r{}", attention.summary_tokens);
  if (attention.type == "random" || attention.type == "topk") title += fmt::format(" {}", attention.density);
  if (attention.sinks > 0) title += fmt::format(" s{}", attention.sinks);
  return title;
}

std::string data_title(const LanguageModelingConfig& config) {
  return data_name(config.data.path);
}

}  // namespace modewise::tasks
