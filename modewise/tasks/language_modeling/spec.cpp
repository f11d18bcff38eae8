#include "modewise/tasks/language_modeling/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/data/text_documents.h"
#include "modewise/report/table.h"
#include "modewise/tasks/language_modeling/evaluate.h"
#include "modewise/tasks/language_modeling/run.h"
#include "modewise/tasks/language_modeling/source.h"
#include "modewise/tasks/run/rank_tracking.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

std::unique_ptr<Run> create(const Settings& settings) {
  return std::make_unique<LanguageModelingRun>(load_language_config(settings));
}

Result describe_data(const Settings& given) {
  Settings settings = given;
  std::erase_if(settings.assignments, [](const std::string& one) { return one.starts_with("model.name="); });
  LanguageModelingRun run(load_language_config(settings));
  require(!run.config.data.path.empty(), ErrorKind::usage, "no text: give a file or a folder");
  run.data = load_language_data(run.config, tokenizer_of(run.config));
  Json json = run.describe();
  if (run.data.is_recall()) return Result(std::move(json));
  std::string text = fmt::format("{}: {}\n", run.data.set.source, run.data.tokenizer->name());
  for (const std::string& note : run.data.set.notes) text += "note: " + note + "\n";
  for (const std::string& warning : run.data.set.warnings) text += "warning: " + warning + "\n";
  report::Table table({{"split"}, {"documents"}, {"tokens"}, {"bytes"}, {"words"}, {"bytes per token"}});
  for (const char* part : {"train", "validation", "test"}) {
    const Json& one = json[part];
    table.add_row({part, one["documents"].get<int64_t>(), one["tokens"].get<int64_t>(),
                   one["bytes"].get<int64_t>(), one["words"].get<int64_t>(),
                   Cell(one["bytes"].get<double>() / std::max(1.0, one["tokens"].get<double>()), 2)});
  }
  return {std::move(json), text + "\n" + table.to_text()};
}

bool owns(const std::filesystem::path& data) {
  return data.extension() == ".jsonl" || data.extension() == ".ndjson" || data == "recall" ||
         data::holds_prose(data);
}

}  // namespace

const TaskSpec language_modeling_spec = {
    .name = "language_modeling",
    .command = "language",
    .subject = "a language model",
    .summary =
        "Trains a language model from scratch or from a model (--init), and evaluates it on the test text.",
    .example = "modewise train language --data tinyshakespeare.txt --attention summary",
    .data_help = "text file, folder of text files, .jsonl, token file, or recall (data.path)",
    .model_help = "",
    .options =
        {{"--tokenizer", "tokenizer",
          "tokenizer: bytes, tokenizer.bin, sentencepiece .model, tokenizer.json, or a folder with one"},
         {"--init", "init", "initial model: run, Hugging Face folder, llama2.c .bin"},
         {"--bos", "data.begin_token",
          "begin token before documents: as the tokenizer's files say (auto), yes, no (default auto)"},
         {"--text-field", "data.text_field", "field of a .jsonl file that holds the text (default text)"},
         {"--allow-binary", "data.allow_binary", "accept files other than texts and train on their bytes",
          ShortOption::Takes::nothing},
         {"--attention", "model.attention.type",
          "attention type: summary, full, window, lambda, axial, random, topk"},
         {"--fold", "model.attention.fold", "sizes of the fold, such as 0,32,32"},
         {"--window", "model.attention.window", "attention window in tokens"},
         {"--summary-tokens", "model.attention.summary_tokens", "summary tokens per block"},
         {"--context", "model.context", "context length in tokens"}},
    .validation = {{"/validation/loss", "validation loss", "lowest", 4},
                   {"/validation/bits_per_byte", "validation bits per byte", "lowest", 4}},
    .create = create,
    .describe_data = describe_data,
    .comparison = language_comparison,
    .owns = owns,
    .opens = is_language_model,
    .evaluate = evaluate_language_model,
    .evaluate_options = {.title = "Language models", .options = language_evaluate_options()},
    .predict_with = "modewise generate",
    .attention = language_attention,
};

}  // namespace modewise::tasks
