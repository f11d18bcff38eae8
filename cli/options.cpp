#include "cli/options.h"

#include <spdlog/spdlog.h>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <nlohmann/json.hpp>

#include "cli/program.h"
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
          // As a JSON list, so that names may contain commas.
          [set](const std::vector<std::string>& values) { set(nlohmann::json(values).dump()); }, option.help);
    else
      command.add_option_function<std::string>(option.flag, set, option.help);
  }
}

void ConfigOptions::add_to(CLI::App& command, const std::string& data_help, const std::string& model_help,
                           const std::string& data_name) {
  command.add_option(data_name, data, data_help);
  if (!model_help.empty()) command.add_option("--model", model, model_help);
  command.add_option("--config", config, "TOML config file");
  command.add_option("--set", assignments, "set one key, as in --set train.epochs=5; repeatable")
      ->allow_extra_args(false);
  command.add_option("--seed", seed, "seed of all random numbers (train.seed)")->check(non_negative_number());
}

std::vector<std::string> ConfigOptions::all_assignments() const {
  std::vector<std::string> all = short_forms;
  const auto add = [&](const char* option, const std::string& key, const std::string& value) {
    for (const std::string& one : assignments)
      require(one == key + value || !one.starts_with(key), ErrorKind::usage,
              "{} {} contradicts --set {}: give one of them", option, value, one);
    all.push_back(key + value);
  };
  for (const std::string& one : short_forms)
    for (const std::string& set : assignments)
      if (set != one && set.starts_with(one.substr(0, one.find('=') + 1)))
        spdlog::warn("--set {} replaces {} of another option", set, one);
  if (!model.empty()) add("--model", "model.name=", model);
  require(data != "-", ErrorKind::usage,
          "--data -: standard input is not read here: write its bytes to a file first");
  if (!data.empty()) add("--data", "data.path=", data);
  if (seed >= 0) add("--seed", "train.seed=", std::to_string(seed));
  all.insert(all.end(), assignments.begin(), assignments.end());
  return all;
}

void ModelOptions::add_to(CLI::App& command) {
  command
      .add_option(
          "model,--model", model,
          "run, Hugging Face folder with config.json and safetensors (Llama, Mistral), or llama2.c .bin")
      ->required();
  command.add_option(
      "--tokenizer", tokenizer,
      "tokenizer: bytes, tokenizer.bin, sentencepiece .model, tokenizer.json, or a folder with one "
      "(default: the model's own)");
  command.add_option("--attention", attention,
                     "attention type: summary, full, window, lambda, axial, random, topk");
  command.add_option("--fold", fold, "sizes of the fold of summary and axial attention, such as 0,32,32");
  command.add_option("--window", window, "attention window in tokens (summary, window, lambda)");
  command.add_option("--summary-tokens", summary_tokens,
                     "summary tokens per complete block (summary attention)");
  command.add_option("--precision", precision, "precision of activations and weights: float32 or bf16")
      ->check(CLI::IsMember({"float32", "bf16"}));
  command.add_option("--set", assignments,
                     "further model settings, such as rope.scaling=linear rope.factor=4");
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
  if (!tokenizer.empty()) out.set_tokenizer(text::load_tokenizer(tokenizer));
  if (out.tokenizer) text::override_begin(*out.tokenizer, bos);
  const models::LanguageModelConfig& config = out.model->config();
  if (out.tokenizer)
    require(out.tokenizer->size() <= config.vocabulary, ErrorKind::data,
            "the tokenizer ({}) has {} tokens, but the model only {}: it belongs to another model",
            out.tokenizer->name(), out.tokenizer->size(), config.vocabulary);
  return out;
}

}  // namespace modewise::cli
