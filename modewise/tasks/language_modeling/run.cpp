#include "modewise/tasks/language_modeling/run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/remove_tree.h"
#include "modewise/models/language_modeling/cost.h"
#include "modewise/models/language_modeling/files.h"
#include "modewise/report/table.h"
#include "modewise/tasks/language_modeling/evaluate.h"
#include "modewise/tasks/language_modeling/scores.h"
#include "modewise/tasks/language_modeling/task.h"
#include "modewise/tasks/run/own_samples.h"
#include "modewise/tasks/run/run_tokenizer.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json describe_part(const data::TokenPart& part) {
  return {{"documents", part.spans.size()},
          {"tokens", part.tokens()},
          {"bytes", part.bytes()},
          {"words", part.words()}};
}

/// The text `path` as one split.
void use_text(LanguageModelingConfig& config, const std::string& path) {
  config.data.path = absolute_path(path);
  config.data.split = "documents";
  config.data.split_ratios = {1, 0, 0};
  config.data.validation = config.data.test = "";
}

}  // namespace

void LanguageModelingRun::load(const DataRequest& request) {
  if (request.training) {
    require(!config.data.path.empty(), ErrorKind::usage,
            "no text: give --data FILE, such as tinyshakespeare.txt, a folder of text files, or recall");
    // A resumed run uses its own copy of the tokenizer.
    const bool kept = has_folder() && fs::is_directory(folder().file("tokenizer"));
    data = load_language_data(config, kept ? run_tokenizer(folder()) : tokenizer_of(config));
    if (config.data.begin_token == "yes" && data.tokenizer && !data.tokenizer->begin_id())
      spdlog::warn("data.begin_token = yes has no effect: the tokenizer ({}) has no begin token",
                   data.tokenizer->name());
    config.model = config.model.resolved();
    require_documents_of_lengths();
    return;
  }
  if (request.moved) return;  // for a report, which shows no text
  LanguageModelingConfig read = config;
  if (!request.path.empty()) use_text(read, request.path);
  require(read.data.is_recall() || !data.is_recall(), ErrorKind::usage,
          "{} has no tokenizer: set --tokenizer", folder().path().string());
  const auto load = [&](bool with_test) {
    read.train.test = with_test;
    data = load_language_data(read, data.tokenizer);
  };
  if (!request.unchanged)
    load(request.with_test);
  else if (!load_and_compare(*this, request.with_test, load))
    refuse_changed(*this, read.data.path);
}

Json LanguageModelingRun::describe() const {
  if (data.is_recall()) return {{"source", "recall"}, {"hash", data.hash}};
  return {{"source", data.set.source},
          {"hash", data.hash},
          {"tokenizer", {{"name", data.tokenizer->name()}, {"hash", data.tokenizer->hash()}}},
          {"train", describe_part(data.set.train)},
          {"validation", describe_part(data.set.validation)},
          {"test", describe_part(data.set.test)},
          {"notes", data.set.notes},
          {"warnings", data.set.warnings}};
}

void LanguageModelingRun::restore(const Json& /*json*/, const std::string& /*file*/) {
  if (!config.data.is_recall()) data.tokenizer = run_tokenizer(folder());
}

void LanguageModelingRun::announce() {
  const std::string about_model =
      fmt::format("model {}, {} parameters, context {}", model_title(config),
                  report::Cell::count(config.model.parameters()).text(), config.model.context);
  if (data.is_recall()) {
    spdlog::info("recall: {} samples per epoch; {}", config.data.recall.samples, about_model);
    return;
  }
  for (const std::string& note : data.set.notes) spdlog::info("{}", note);
  for (const std::string& warning : data.set.warnings) spdlog::warn("{}", warning);
  const auto tokens = [](const data::TokenPart& part) { return report::Cell::count(part.tokens()).text(); };
  spdlog::info("{}: {}; {} training tokens in {} documents, {} validation, {}; {}", data.set.source,
               data.tokenizer->name(), tokens(data.set.train), data.set.train.spans.size(),
               tokens(data.set.validation),
               config.train.test ? tokens(data.set.test) + " test" : test_count(false, 0), about_model);
}

void LanguageModelingRun::make_model(Purpose purpose) {
  if (purpose == Purpose::open) {
    model = models::make_unset_language_model(config.model);
  } else if (purpose == Purpose::train && !config.init.empty()) {
    models::LoadedLanguageModel loaded = models::load_language_model(
        config.init, [&](models::LanguageModelConfig& own) { own = config.model; });
    for (const std::string& note : loaded.notes) spdlog::info("{}", note);
    model = std::move(loaded.model);
  } else {
    model = models::make_language_model(config.model, static_cast<uint64_t>(config.train.seed));
  }
}

nn::ModelCost LanguageModelingRun::cost() const {
  return models::language_cost(config.model);
}

std::unique_ptr<train::ModuleTask> LanguageModelingRun::task() {
  return std::make_unique<LanguageModelingTask>(config, data, *model);
}

void LanguageModelingRun::keep() const {
  if (data.tokenizer) keep_run_tokenizer(folder(), *data.tokenizer);
}

Json LanguageModelingRun::evaluate(const std::string& split, bool /*keep*/, train::Workers& /*workers*/) {
  Json evaluation = {{"split", split}};
  evaluation.update(scores(split));
  return evaluation;
}

void LanguageModelingRun::finish(Json& metrics) {
  metrics["parameters"] = config.model.parameters();
  metrics["validation"] = scores("validation");
  metrics["test_read"] = config.train.test;
  if (config.train.test)
    metrics.update(timed_test([&] { return test_scores(); }));
  else if (!config.language.lengths.empty())
    metrics["lengths"] = scores_by_length(last_split(false));
  if (!config.output.export_model) return;
  remove_tree(folder().file("model"));  // left by an interrupted evaluation
  models::SaveLanguageOptions options;
  options.tokenizer = data.tokenizer;
  if (data.tokenizer) {
    // The token that ends a document; the begin token of the next one if there is no other.
    if (const auto end = data.end ? data.end : data.begin) options.special.end = {*end};
    const size_t before = data.tokenizer->tokens_before_text().size();
    if (before > 1 || data.begin.has_value() != (before == 1))
      options.special.puts_begin = data.begin.has_value();
  }
  if (!config.init.empty() && config.tokenizer.empty())
    options.keep_from = models::language_model_folder(config.init);
  models::save_language_model(folder().file("model"), *model, options);
}

Json LanguageModelingRun::scores(const std::string& split) const {
  if (data.is_recall()) return to_json(score_recall(*model, config, split));
  const data::TokenStream stream = data.stream(split);
  require(stream.size() > 1, ErrorKind::data, "{}: there is no {} text", data.set.source, split);
  const data::TokenWindows windows(split, stream, std::min(config.model.context, stream.size() - 1));
  return to_json(score_windows(*model, windows, {config.language.evaluation_batch, 0}));
}

std::string LanguageModelingRun::last_split(bool test) const {
  return test && (data.is_recall() || !data.set.test.spans.empty()) ? "test" : "validation";
}

void LanguageModelingRun::require_documents_of_lengths() const {
  const std::vector<int64_t>& lengths = config.language.lengths;
  if (lengths.empty() || data.is_recall()) return;
  const std::string split = last_split(config.train.test);
  const int64_t needed = *std::max_element(lengths.begin(), lengths.end()) + 1;
  const int64_t longest = longest_document(data.set.part(split));
  require(longest >= needed, ErrorKind::data,
          "language.lengths: a length of {} needs a document of {} tokens, and the longest of the {} text "
          "has {}; "
          "set shorter lengths, or a larger share with data.split_ratios",
          needed - 1, needed, split, longest);
}

Json LanguageModelingRun::test_scores() {
  const std::string split = last_split(true);
  Json out = {{"test", scores(split)}};
  if (!config.language.lengths.empty()) out["lengths"] = scores_by_length(split);
  return out;
}

Json LanguageModelingRun::scores_by_length(const std::string& split) {
  // Non-owning pointer: the run outlives it.
  const std::shared_ptr<LanguageModelingRun> run(std::shared_ptr<void>(), this);
  const LanguageSource source{"", model, data.tokenizer, run};
  Json out = Json::object();
  for (const std::string& variant : config.language.variants) {
    LanguageEvaluateOptions options;
    options.split = split;
    options.conventions = {"spread"};
    options.lengths = config.language.lengths;
    options.windows = config.language.length_windows;
    options.stride = config.language.length_stride;
    if (variant == "lambda")
      options.changes = {"attention.type=lambda", fmt::format("attention.window={}", config.model.context),
                         "attention.sinks=4"};
    else if (variant != "plain")
      options.changes = {"rope.scaling=" + variant};
    options.stretch = variant != "lambda" && variant != "plain";
    const Json evaluation = data.is_recall() ? evaluate_recall(source, options)
                                             : evaluate_text(source, data.set.part(split), options);
    for (const Json& one : evaluation["results"])
      out[variant][std::to_string(one["length"].get<int64_t>())] = one;
  }
  return out;
}

}  // namespace modewise::tasks
