#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/report/table.h"
#include "modewise/tasks/language/attention.h"
#include "modewise/tasks/language/compare.h"
#include "modewise/tasks/language/evaluation.h"
#include "modewise/tasks/language/kind.h"
#include "modewise/tasks/language/report.h"
#include "modewise/tasks/language/run.h"
#include "modewise/tasks/language/source.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

Result refuse_prediction(const PredictRequest& options) {
  fail(ErrorKind::usage, "{} is a language model: modewise generate continues a text with it", options.run);
}

void write_report(const std::string& run, const std::string&, const std::filesystem::path& out) {
  write_language_report(open_language_run(run), out);
}

Result describe_data(const std::string& file, const std::vector<std::string>& given) {
  std::vector<std::string> assignments = given;
  std::erase_if(assignments, [](const std::string& one) { return one.starts_with("model.name="); });
  LanguageConfig config = load_language_config(file, assignments);
  require(!config.data.path.empty(), ErrorKind::usage, "no text: name a file or a folder");
  const LanguageData data = load_language_data(config, tokenizer_of(config));
  Json json = describe(config, data);
  if (config.data.is_recall()) return Result(std::move(json));
  std::string text = fmt::format("{}: {}\n", data.set.source, data.tokenizer->name());
  for (const std::string& note : data.set.notes) text += "note: " + note + "\n";
  report::Table table({{"part"}, {"documents"}, {"tokens"}, {"bytes"}, {"words"}, {"bytes a token"}});
  for (const char* part : {"train", "validation", "test"}) {
    const Json& one = json[part];
    table.add_row({part, one["documents"].get<int64_t>(), one["tokens"].get<int64_t>(),
                   one["bytes"].get<int64_t>(), one["words"].get<int64_t>(),
                   Cell(one["bytes"].get<double>() / std::max(1.0, one["tokens"].get<double>()), 2)});
  }
  return {std::move(json), text + "\n" + table.to_text()};
}

bool owns(const std::filesystem::path& data) {
  return data.extension() == ".jsonl" || data == "recall";
}

}  // namespace

const Kind language_kind = {
    .name = "language",
    .summary = "Trains a language model on text, from scratch or from a model (--init).",
    .example = "modewise train language --data tinyshakespeare.txt --attention tensor",
    .data_help = "text file, folder of them, .jsonl, token file, or recall (data.path)",
    .model_help = "",
    .options = {{"--tokenizer", "tokenizer",
                 "bytes, tokenizer.bin, sentencepiece .model, tokenizer.json, or a folder with one"},
                {"--init", "init", "model to go on from: run, Hugging Face folder, llama2.c .bin"},
                {"--attention", "model.attention.form",
                 "causal (or tensor), full, window, lambda, axial, random, topk"},
                {"--fold", "model.attention.fold", "sizes such as 0,32,32"},
                {"--window", "model.attention.window", "tokens seen one by one"},
                {"--slots", "model.attention.slots", "summaries a block"},
                {"--context", "model.context", "tokens of a training text"}},
    .evaluate_title = "Language models",
    .evaluate_options = language_evaluate_options(),
    .validation = {{"/validation/loss", "validation loss", "lowest", 4},
                   {"/validation/bits_per_byte", "validation bits a byte", "lowest", 4}},
    .owns = owns,
    .opens = is_language_model,
    .defaults = default_config<LanguageConfig>,
    .config = any_config<load_language_config>,
    .job = make_language_job,
    .evaluate = evaluate_language_model,
    .predict = refuse_prediction,
    .write_report = write_report,
    .comparison = language_comparison,
    .attention = language_attention,
    .describe_data = describe_data,
};

}  // namespace modewise::tasks
