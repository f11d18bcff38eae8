#include "cli/language_options.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/report/table.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_part.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

/// --name VALUE as the assignment key=VALUE.
void add_short_form(CLI::App& command, std::vector<std::string>& assignments, const std::string& name,
                    const std::string& key, const std::string& help) {
  command.add_option_function<std::string>(
      name, [&assignments, key](const std::string& value) { assignments.push_back(key + "=" + value); },
      help + " (" + key + ")");
}

}  // namespace

void LanguageConfigOptions::add_to(CLI::App& command) {
  command.add_option("--data", data, "text file, folder of them, .jsonl, token file, or recall (data.path)");
  add_short_form(command, short_forms_, "--tokenizer", "tokenizer",
                 "bytes, tokenizer.bin, sentencepiece .model, tokenizer.json, or a folder with one");
  add_short_form(command, short_forms_, "--init", "init",
                 "model to go on from: run, Hugging Face folder, llama2.c .bin");
  command.add_option_function<std::string>(
      "--attention",
      [this](const std::string& form) {
        short_forms_.push_back("model.attention.form=" + (form == "tensor" ? "causal" : form));
      },
      "causal (or tensor), full, window, lambda, axial, random, topk (model.attention.form)");
  add_short_form(command, short_forms_, "--fold", "model.attention.fold", "sizes such as 0,32,32");
  add_short_form(command, short_forms_, "--window", "model.attention.window", "tokens seen one by one");
  add_short_form(command, short_forms_, "--slots", "model.attention.slots", "summaries a block");
  add_short_form(command, short_forms_, "--context", "model.context", "tokens of a training text");
  command.add_option("--config", config, "TOML file with any of the keys");
  command.add_option("--set", assignments, "one key, as in --set train.epochs=5; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--seed", seed, "seed of everything random (train.seed)")->check(CLI::NonNegativeNumber);
}

std::vector<std::string> LanguageConfigOptions::all_assignments() const {
  std::vector<std::string> all = short_forms_;
  const std::vector<std::string> others = ConfigOptions::all_assignments();
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

tasks::LanguageConfig load_language_options(const std::string& file,
                                            const std::vector<std::string>& assignments) {
  tasks::LanguageConfig config = tasks::load_language_config(file, assignments);
  if (!config.data.is_recall()) config.data.path = absolute_path(config.data.path);
  config.data.validation = absolute_path(config.data.validation);
  config.data.test = absolute_path(config.data.test);
  config.init = absolute_path(config.init);
  if (config.tokenizer != "bytes") config.tokenizer = absolute_path(config.tokenizer);
  return config;
}

std::string recall_text(const Json& scores) {
  using tasks::number;
  std::string text = fmt::format("recall {:.2f} % of {} questions\n\n", 100 * number(scores, "accuracy"),
                                 Cell::count(scores["asked"].get<int64_t>()).text());
  report::Table pairs({{"pairs"}, {"questions"}, {"recall %"}});
  for (const Json& one : scores["by_pairs"])
    pairs.add_row(
        {one["pairs"].get<int64_t>(), one["asked"].get<int64_t>(), Cell(100 * number(one, "accuracy"), 2)});
  report::Table distances({{"distance"}, {"questions"}, {"recall %"}});
  for (const Json& one : scores["by_distance"])
    distances.add_row({fmt::format("{} … {}", one["from"].get<int64_t>(), one["to"].get<int64_t>()),
                       one["asked"].get<int64_t>(), Cell(100 * number(one, "accuracy"), 2)});
  return text + pairs.to_text() + "\n" + distances.to_text();
}

std::string language_text(const Json& metrics) {
  using tasks::number;
  const std::string judged = tasks::judged_part(metrics);
  if (metrics[judged].contains("by_pairs")) return judged + ": " + recall_text(metrics[judged]);
  report::Table table({{"text"}, {"tokens"}, {"loss"}, {"perplexity"}, {"bits a byte"}});
  for (const char* part : {"validation", "test"}) {
    if (!metrics.contains(part)) continue;
    table.add_row({part, metrics[part]["tokens"].get<int64_t>(), Cell(number(metrics[part], "loss"), 4),
                   Cell(number(metrics[part], "perplexity"), 3),
                   Cell(number(metrics[part], "bits_per_byte"), 4)});
  }
  return table.to_text();
}

}  // namespace modewise::cli
