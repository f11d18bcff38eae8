#include "cli/options.h"

#include <spdlog/spdlog.h>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/tasks/language_modeling/source.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::cli {
void add_short_options(CLI::App& command, const std::vector<tasks::ShortOption>& options,
                       std::vector<std::string>& to) {
  using Takes = tasks::ShortOption::Takes;
  for (const tasks::ShortOption& option : options) {
    const auto set = [&to, key = option.key](const std::string& value) { to.push_back(key + "=" + value); };
    if (option.takes == Takes::nothing)
      command.add_flag_callback(
          option.flag, [set] { set("true"); }, option.help);
    else if (option.takes == Takes::list)
      command.add_option_function<std::vector<std::string>>(
          option.flag,
          // As a list in brackets, so that a name may hold a comma.
          [set](const std::vector<std::string>& values) { set(nlohmann::json(values).dump()); }, option.help);
    else
      command.add_option_function<std::string>(option.flag, set, option.help);
  }
}

void ConfigOptions::add_to(CLI::App& command, const std::string& data_help, const std::string& model_help) {
  command.add_option("--data", data, data_help);
  if (!model_help.empty()) command.add_option("--model", model, model_help);
  command.add_option("--config", config, "TOML file with any of the keys");
  command.add_option("--set", assignments, "one key, as in --set train.epochs=5; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--seed", seed, "seed of everything random (train.seed)")->check(non_negative_number());
}

std::vector<std::string> ConfigOptions::all_assignments() const {
  std::vector<std::string> all = short_forms;
  if (!model.empty()) all.push_back("model.name=" + model);
  if (!data.empty()) all.push_back("data.path=" + data);
  if (seed >= 0) all.push_back("train.seed=" + std::to_string(seed));
  all.insert(all.end(), assignments.begin(), assignments.end());
  return all;
}

void ModelOptions::add_to(CLI::App& command) {
  command
      .add_option("model,--model", model,
                  "run, folder with config.json and safetensors (Llama, Mistral), or llama2.c .bin")
      ->required();
  command.add_option("--tokenizer", tokenizer,
                     "bytes, tokenizer.bin, sentencepiece .model, tokenizer.json, or a folder with one; the "
                     "model's own without it");
  command.add_option(
      "--attention", attention,
      "another form of attention: causal (or tensor), full, window, lambda, axial, random, topk");
  command.add_option("--fold", fold, "of causal and axial attention: sizes such as 0,32,32");
  command.add_option("--window", window, "tokens seen one by one (causal, window, lambda)");
  command.add_option("--summary-tokens", summary_tokens, "causal: summaries a finished block");
  command.add_option("--precision", precision, "of activations and weights: float32 or bf16")
      ->check(CLI::IsMember({"float32", "bf16"}));
  command.add_option("--set", assignments,
                     "other options of the model, such as rope.scaling=linear rope.factor=4");
}

void ModelOptions::adjust(models::LanguageModelConfig& config) const {
  if (!attention.empty()) config.attention = models::LanguageAttentionConfig();
  std::vector<std::string> changes;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) changes.push_back(std::string(key) + "=" + value);
  };
  set("attention.type", attention);
  set("attention.fold", fold);
  set("attention.window", window);
  set("attention.summary_tokens", summary_tokens);
  set("precision", precision);
  changes.insert(changes.end(), assignments.begin(), assignments.end());
  if (!changes.empty()) config = tasks::changed_config(std::move(config), changes);
}

models::LoadedLanguageModel ModelOptions::load() const {
  models::LoadedLanguageModel out = models::load_language_model(
      model, [this](models::LanguageModelConfig& config) { adjust(config); },
      models::KeptWeights::as_activated);
  for (const std::string& note : out.notes) spdlog::info("{}", note);
  if (!tokenizer.empty()) out.tokenizer = text::load_tokenizer(tokenizer);
  const models::LanguageModelConfig& config = out.model->config();
  if (out.tokenizer)
    require(out.tokenizer->size() <= config.vocabulary, ErrorKind::data,
            "the tokenizer ({}) has {} tokens, the model {} only: it is another model's",
            out.tokenizer->name(), out.tokenizer->size(), config.vocabulary);
  return out;
}

}  // namespace modewise::cli
