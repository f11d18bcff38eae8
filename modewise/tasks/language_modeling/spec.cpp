#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/analysis/sequence_cost.h"
#include "modewise/core/error.h"
#include "modewise/data/text_documents.h"
#include "modewise/report/table.h"
#include "modewise/tasks/language_modeling/evaluate.h"
#include "modewise/tasks/language_modeling/report.h"
#include "modewise/tasks/language_modeling/run.h"
#include "modewise/tasks/language_modeling/source.h"
#include "modewise/tasks/language_modeling/spec.h"
#include "modewise/tasks/load_config.h"
#include "modewise/tasks/rank_tracking.h"
#include "modewise/tasks/run_tokenizer.h"
#include "modewise/tasks/training.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

class LanguageJob final : public ConfiguredTraining<LanguageModelingConfig> {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_language_config(file, assignments);
    refuse_rank_tracking(config_.train, "language_modeling", file);
    if (is_run_config(file)) run_ = std::filesystem::path(file).parent_path();
    require(!config_.data.path.empty(), ErrorKind::usage,
            "no text: give --data FILE, such as tinyshakespeare.txt, a folder of text files, or recall");
  }

  void load_data() override {
    // A resumed run uses its own copy of the tokenizer.
    const bool kept = !run_.empty() && std::filesystem::is_directory(run_ / "tokenizer");
    data_ = load_language_data(
        config_, kept ? text::load_tokenizer((run_ / "tokenizer").string()) : tokenizer_of(config_));
    config_.model = config_.model.resolved();
  }

  Json describe_data() const override { return describe(config_, data_); }

  void announce() const override {
    const std::string model =
        fmt::format("model {}, {} parameters, context {}", model_title(config_),
                    report::Cell::count(config_.model.parameters()).text(), config_.model.context);
    if (config_.data.is_recall()) {
      spdlog::info("recall: {} samples per epoch; {}", config_.data.recall.samples, model);
      return;
    }
    for (const std::string& note : data_.set.notes) spdlog::info("{}", note);
    const auto tokens = [](const data::TokenPart& part) { return report::Cell::count(part.tokens()).text(); };
    spdlog::info("{}: {}; {} training tokens in {} documents, {} validation, {}; {}", data_.set.source,
                 data_.tokenizer->name(), tokens(data_.set.train), data_.set.train.spans.size(),
                 tokens(data_.set.validation),
                 reads_test() ? tokens(data_.set.test) + " test" : test_count(false, 0), model);
  }

  analysis::ModelCost cost() const override { return analysis::language_cost(config_.model); }

  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    if (data_.tokenizer) keep_run_tokenizer(folder, *data_.tokenizer);
    return train_language_model(config_, data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    write_language_report(open_language_run(folder.path()), folder.file("report.html"));
  }

  std::string summary(const Json& metrics) const override { return language_text(metrics); }

 private:
  std::filesystem::path run_;  // the resumed run
  LanguageData data_;
};

Result refuse_prediction(const PredictRequest& options) {
  fail(ErrorKind::usage, "{} is a language model: use modewise generate", options.run);
}

void write_report(const std::string& run, const std::string&, const std::filesystem::path& out) {
  write_language_report(open_language_run(run), out);
}

Result describe_data(const std::string& file, const std::vector<std::string>& given) {
  std::vector<std::string> assignments = given;
  std::erase_if(assignments, [](const std::string& one) { return one.starts_with("model.name="); });
  LanguageModelingConfig config = load_language_config(file, assignments);
  require(!config.data.path.empty(), ErrorKind::usage, "no text: give a file or a folder");
  const LanguageData data = load_language_data(config, tokenizer_of(config));
  Json json = describe(config, data);
  if (config.data.is_recall()) return Result(std::move(json));
  std::string text = fmt::format("{}: {}\n", data.set.source, data.tokenizer->name());
  for (const std::string& note : data.set.notes) text += "note: " + note + "\n";
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
  return data.extension() == ".jsonl" || data == "recall" || data::holds_prose(data);
}

}  // namespace

const TaskSpec language_modeling_spec = {
    .name = "language_modeling",
    .command = "language",
    .summary =
        "Trains a language model from scratch or from a model (--init), and evaluates it on the test text.",
    .example = "modewise train language --data tinyshakespeare.txt --attention summary",
    .data_help = "text file, folder of text files, .jsonl, token file, or recall (data.path)",
    .model_help = "",
    .options =
        {{"--tokenizer", "tokenizer",
          "tokenizer: bytes, tokenizer.bin, sentencepiece .model, tokenizer.json, or a folder with one"},
         {"--init", "init", "initial model: run, Hugging Face folder, llama2.c .bin"},
         {"--attention", "model.attention.type",
          "attention type: summary, full, window, lambda, axial, random, topk"},
         {"--fold", "model.attention.fold", "sizes of the fold, such as 0,32,32"},
         {"--window", "model.attention.window", "attention window in tokens"},
         {"--summary-tokens", "model.attention.summary_tokens", "summary tokens per block"},
         {"--context", "model.context", "context length in tokens"}},
    .evaluate_title = "Language models",
    .evaluate_options = language_evaluate_options(),
    .validation = {{"/validation/loss", "validation loss", "lowest", 4},
                   {"/validation/bits_per_byte", "validation bits per byte", "lowest", 4}},
    .owns = owns,
    .opens = is_language_model,
    .defaults = default_config<LanguageModelingConfig>,
    .config = any_config<load_language_config>,
    .training = make_training<LanguageJob>,
    .evaluate = evaluate_language_model,
    .predict = refuse_prediction,
    .write_report = write_report,
    .comparison = language_comparison,
    .attention = language_attention,
    .describe_data = describe_data,
};

}  // namespace modewise::tasks
