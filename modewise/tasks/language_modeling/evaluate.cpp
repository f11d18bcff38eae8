#include "modewise/tasks/language_modeling/evaluate.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/tasks/language_modeling/data.h"
#include "modewise/tasks/language_modeling/passkey.h"
#include "modewise/tasks/language_modeling/question_scores.h"
#include "modewise/tasks/language_modeling/report.h"
#include "modewise/tasks/language_modeling/run.h"
#include "modewise/tasks/language_modeling/scores.h"
#include "modewise/tasks/language_modeling/spec.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/test_split.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

/// Token before documents: the begin token if it is put before texts; for `rolling`, as in lm-eval, any BOS
/// or else EOS. None for a run without begin tokens or with `bos` = no.
std::optional<int32_t> prefix_token(const LanguageSource& source, const LanguageEvaluateOptions& options,
                                    const std::string& convention) {
  const text::Tokenizer& tokenizer = *source.tokenizer;
  if (options.bos == "no" || (source.run && source.run->config.data.begin_token == "no")) return std::nullopt;
  if (convention != "rolling") return tokenizer.begin_before_text();
  return tokenizer.begin_id() ? tokenizer.begin_id() : tokenizer.end_id();
}

/// Sets the bytes and words of the predicted tokens: without a token before the documents, the first of each
/// is not predicted; words are counted in proportion to the bytes.
void set_predicted_text(TokenScores& scores, const data::TokenPart& text, bool prefix,
                        const text::Tokenizer& tokenizer) {
  scores.bytes = text.bytes();
  scores.words = text.words();
  if (prefix) return;
  for (const data::TokenSpan& document : text.spans) {
    if (document.size() == 0) continue;
    int64_t id = 0;
    text.file->read(document.begin, 1, &id);
    const auto first = static_cast<text::Tokenizer::Id>(id);
    scores.bytes -= document.size() == 1 ? document.bytes : std::ssize(tokenizer.decode({&first, 1}));
  }
  scores.bytes = std::max<int64_t>(0, scores.bytes);
  scores.words = std::llround(static_cast<double>(text.words()) * static_cast<double>(scores.bytes) /
                              static_cast<double>(std::max<int64_t>(1, text.bytes())));
}

std::vector<int64_t> wanted_lengths(const LanguageSource& source, const LanguageEvaluateOptions& options) {
  if (!options.lengths.empty()) return options.lengths;
  return {source.model->config().context};
}

std::shared_ptr<models::LanguageModel> changed_model(const LanguageSource& source,
                                                     const LanguageEvaluateOptions& options, int64_t length) {
  if (options.changes.empty()) return source.model;
  return remade_model(*source.model, evaluation_config(source.model->config(), options, length));
}

// Limit, because a model header may declare any context.
constexpr int64_t kLongestPasskey = 1 << 20;

/// Parses the settings of a request: "model.KEY=value" change the model, others are fields.
LanguageEvaluation evaluation_of(const EvaluateRequest& request) {
  LanguageEvaluation out;
  Fields fields = fields_of(out);
  const std::string of_model = "model.";
  for (const std::string& setting : request.settings) {
    if (setting.starts_with(of_model))
      out.measure.changes.push_back(setting.substr(of_model.size()));
    else
      fields.set(setting);
  }
  out.measure.data = absolute_path(request.data);
  out.measure.split = request.data.empty() ? request.split : "all";
  require(!out.rope.empty() || out.factor == 0, ErrorKind::usage,
          "--factor {} has no effect without --rope: set the rotary scaling, such as --rope "
          "linear",
          out.factor);
  if (!out.rope.empty()) {
    out.measure.changes.push_back("rope.scaling=" + out.rope);
    if (out.factor > 0)
      out.measure.changes.push_back(fmt::format("rope.factor={}", out.factor));
    else
      out.measure.stretch = true;
  }
  return out;
}

void set_text_options(data::DocumentConfig& config, const LanguageEvaluateOptions& options) {
  if (!options.text_field.empty()) config.field = options.text_field;
  config.separator = options.separator;
}

/// Usage errors for options without effect. `own`: the run's own metrics are evaluated.
void refuse_idle_options(const LanguageSource& source, const LanguageEvaluation& asked,
                         const EvaluateRequest& request, bool own, bool recall) {
  const std::vector<std::string>& conventions = asked.measure.conventions;
  const auto by = [&](const std::string& name) {
    return std::ranges::find(conventions, name) != conventions.end();
  };
  const bool data = !request.data.empty(), text = own || !conventions.empty(), tasks = !asked.tasks.empty();
  const bool windows = recall || asked.passkey || tasks ||
                       std::ranges::any_of(conventions, [](const auto& one) { return one != "stream"; });
  const bool splits = (text || recall) && (data ? request.split == "all" : source.run != nullptr);
  const OptionNeed needs[] = {
      {"--stride", "without --convention sliding or spread", by("sliding") || by("spread")},
      {"--windows", "without --convention spread", by("spread")},
      {"--tokens", "without --convention", !conventions.empty()},
      {"--data", "with --passkey and --tasks: add --convention", text},
      {"--text-field", "without --data", data},
      {"--separator", "without --data", data},
      {"--lengths", "on the convention stream, whose length is that of the text", windows},
      {"--depths", "without --passkey", asked.passkey},
      {"--trials", "without --passkey", asked.passkey},
      {"--seed", "without --passkey", asked.passkey},
      {"--task-data", "without --tasks", tasks},
      {"--limit", "without --tasks", tasks},
      {"--tokenizer", "on key-value recall, which has no text", !recall},
      {"--bos", "on key-value recall, which has no text", !recall},
      {"--split",
       data         ? "with --data, which is evaluated whole"
       : source.run ? "with --passkey and --tasks: add --convention"
                    : "on a model, which has no data: only runs have splits",
       splits},
      {"--detail", "on language models, which have no further tables", false},
  };
  refuse_without_effect(language_modeling_spec, request, needs);
  require(asked.tasks.empty() || asked.measure.lengths.size() < 2, ErrorKind::usage,
          "--tasks takes one of --lengths, the maximum tokens of a question");
}

/// Evaluates the run's own text again, like metrics.json.
Json own_figures(const LanguageSource& source, const EvaluateRequest& options,
                 const LanguageEvaluateOptions& measure) {
  LanguageModelingRun& run = *source.run;
  if (!options.data.empty()) set_text_options(run.config.data, measure);
  DataRequest samples;
  samples.path = options.data;
  samples.unchanged = samples.own();
  run.load(samples);
  if (options.data.empty() && options.split == "test" && test_is_unread(run.folder())) {
    Json figures = run.test_scores();
    write_test_figures(run.folder(), figures, run.hash());
    return {{"split", "test"}, {"scores", std::move(figures["test"])}};
  }
  const std::string split = options.data.empty() ? options.split : "all";
  return {{"split", split}, {"scores", run.scores(split)}};
}

Json passkeys(const LanguageSource& source, const LanguageEvaluation& asked) {
  const LanguageEvaluateOptions& measure = asked.measure;
  require(source.tokenizer != nullptr, ErrorKind::usage, "{} has no tokenizer: set --tokenizer", source.name);
  PasskeyOptions wanted;
  wanted.lengths = measure.lengths;
  if (wanted.lengths.empty()) {
    const int64_t context = source.model->config().context;
    require(
        context <= kLongestPasskey, ErrorKind::usage,
        "{}: the default length of passkey prompts is the context, {} tokens, but at most {}: set --lengths",
        source.name, context, kLongestPasskey);
    wanted.lengths.push_back(context);
  }
  if (!asked.depths.empty()) wanted.depths = asked.depths;
  wanted.trials = asked.trials;
  wanted.seed = static_cast<uint64_t>(asked.seed);
  wanted.end_ids = source.end_ids;
  Json cells = Json::array();
  for (const int64_t length : wanted.lengths) {
    const auto model = changed_model(source, measure, length);
    for (const Json& cell : measure_passkeys(*model, *source.tokenizer, wanted, length))
      cells.push_back(cell);
  }
  return cells;
}

/// Evaluates every task of --tasks.
Json questions(const LanguageSource& source, const LanguageEvaluation& asked) {
  const LanguageEvaluateOptions& measure = asked.measure;
  require(source.tokenizer != nullptr, ErrorKind::usage, "{} has no tokenizer: set --tokenizer", source.name);
  const int64_t length = measure.lengths.empty() ? source.model->config().context : measure.lengths.front();
  const auto model = changed_model(source, measure, length);
  std::vector<QuestionSet> sets;  // all files are read before the first question
  for (const std::filesystem::path& file : question_task_files(asked.tasks, asked.task_data))
    sets.push_back(load_questions(file, asked.task_data, asked.limit));
  Json out = Json::array();
  for (const QuestionSet& set : sets)
    out.push_back(score_questions(*model, source.tokenizer, set, length, source.end_ids));
  return out;
}

}  // namespace

data::TokenPart evaluation_text(const LanguageSource& source, const LanguageEvaluateOptions& options) {
  require(source.tokenizer != nullptr, ErrorKind::usage, "{} has no tokenizer: set --tokenizer", source.name);
  if (options.data.empty()) {
    require(source.run != nullptr, ErrorKind::usage, "{} is a model, not a run: set --data", source.name);
    LanguageModelingConfig config = source.run->config;
    config.train.test = true;
    return load_language_data(config, source.tokenizer).set.part(options.split);
  }
  data::TextConfig config;
  if (source.run) config = source.run->config.data;
  config.path = options.data;
  set_text_options(config, options);
  std::vector<std::string> notes;
  const auto file =
      data::load_tokens(config, config.path, *source.tokenizer, source.tokenizer->file().string(), notes);
  for (const std::string& note : notes) spdlog::info("{}", note);
  return {file, file->documents()};
}

models::LanguageModelConfig evaluation_config(const models::LanguageModelConfig& model,
                                              const LanguageEvaluateOptions& options, int64_t length) {
  std::vector<std::string> changes = options.changes;
  const double factor = static_cast<double>(length) / static_cast<double>(model.context);
  if (options.stretch) changes.push_back(fmt::format("rope.factor={}", std::max(1.0, factor)));
  // A factor of at most 1 leaves the rotary embedding unchanged.
  if (options.stretch && factor <= 1)
    std::erase_if(changes, [](const std::string& one) { return one.starts_with("rope."); });
  return changes.empty() ? model : changed_config(model, changes);
}

int64_t longest_document(const data::TokenPart& text) {
  int64_t longest = 0;
  for (const data::TokenSpan& document : text.spans) longest = std::max(longest, document.size());
  return longest;
}

Json evaluate_language(const LanguageSource& source, const LanguageEvaluateOptions& options) {
  return evaluate_text(source, evaluation_text(source, options), options);
}

Json evaluate_text(const LanguageSource& source, const data::TokenPart& whole,
                   const LanguageEvaluateOptions& options) {
  require(!whole.spans.empty(), ErrorKind::data, "there is no text in the {} split", options.split);
  const data::TokenPart text =
      options.max_tokens > 0 ? data::first_tokens(whole, options.max_tokens, *source.tokenizer) : whole;
  const models::LanguageModelConfig& config = source.model->config();
  const std::vector<int64_t> lengths = wanted_lengths(source, options);
  Json json = {{"model", source.name},        {"attention", config.attention.type},
               {"context", config.context},   {"changes", options.changes},
               {"text", text.file->source()}, {"documents", text.spans.size()},
               {"tokens", text.tokens()},     {"bytes", text.bytes()},
               {"words", text.words()},       {"tokenizer", source.tokenizer->name()},
               {"results", Json::array()}};
  const auto measure = [&](const std::string& convention, int64_t length) {
    const auto model = changed_model(source, options, length);
    PerplexityOptions one;
    one.convention = convention;
    one.length = length;
    one.stride = std::min(options.stride, std::max<int64_t>(1, length - 1));
    one.windows = options.windows;
    one.longest = *std::max_element(lengths.begin(), lengths.end());
    const std::optional<int32_t> prefix = prefix_token(source, options, convention);
    PerplexityResult result = measure_perplexity(*model, text, prefix, one);
    if (convention != "halves" && convention != "spread")  // these do not predict the whole text
      set_predicted_text(result.scores, text, prefix.has_value(), *source.tokenizer);
    json["results"].push_back(to_json(result));
  };
  for (const std::string& convention : options.conventions) {
    if (convention == "stream")
      measure(convention, std::max(config.context, longest_document(text)));
    else
      for (const int64_t length : lengths) measure(convention, length);
  }
  return json;
}

Json evaluate_recall(const LanguageSource& source, const LanguageEvaluateOptions& options) {
  Json json = {{"model", source.name},
               {"attention", source.model->config().attention.type},
               {"context", source.model->config().context},
               {"changes", options.changes},
               {"results", Json::array()}};
  for (const int64_t length : wanted_lengths(source, options)) {
    LanguageModelingConfig config = source.run->config;
    config.data.recall.length = length;
    config.data.validate(source.name);
    Json one = {{"length", length}};
    one.update(to_json(score_recall(*changed_model(source, options, length), config, options.split)));
    json["results"].push_back(std::move(one));
  }
  return json;
}

void LanguageEvaluation::fields(Fields& f) {
  const double max_length = 0x1p40;
  f.add("conventions", measure.conventions, "perplexity conventions",
        {.one_of = {"sliding", "halves", "rolling", "stream", "spread"}});
  f.add("lengths", measure.lengths, "window lengths in tokens", {.min = 2, .max = max_length});
  f.add("stride", measure.stride, "predicted tokens per window", {.min = 1});
  f.add("windows", measure.windows, "windows of each length", {.min = 1});
  f.add("tokens", measure.max_tokens, "maximum tokens of each document", {.min = 1});
  f.add("tokenizer", measure.tokenizer, "tokenizer instead of the model's own");
  f.add("bos", measure.bos, "begin token before texts", {.one_of = {"auto", "yes", "no"}});
  f.add("text_field", measure.text_field, "field of the objects of a .jsonl file that holds the text");
  f.add("separator", measure.separator, "separator between documents",
        {.one_of = {"auto", "endoftext", "blank", "none"}});
  f.add("rope", rope, "rotary scaling", {.one_of = {"linear", "ntk", "yarn"}});
  f.add("factor", factor, "factor of the rotary scaling", {.min = std::numeric_limits<double>::min()});
  f.add("passkey", passkey, "evaluate passkey retrieval");
  f.add("depths", depths, "relative depths of passkeys", {.min = 0, .max = 1});
  f.add("trials", trials, "passkeys for each length and depth", {.min = 1});
  f.add("tasks", tasks, "downstream tasks: names of installed ones, or TOML files");
  f.add("task_data", task_data, "folder of their JSONL files");
  f.add("limit", limit, "maximum questions of each task", {.min = 1});
  f.add("seed", seed, "seed of the passkeys", {.min = 0});
  f.add("report", report, "HTML file with tables and figures");
}

std::vector<ShortOption> language_evaluate_options() {
  using enum ShortOption::Takes;
  return {
      {"--convention", "conventions",
       "perplexity conventions: sliding, halves, rolling, stream, spread (comma-separated)"},
      {"--lengths", "lengths",
       "window or recall sample lengths in tokens, such as 512,1024 (default: trained length)"},
      {"--stride", "stride", "sliding and spread: predicted tokens per window (default 256)"},
      {"--windows", "windows", "spread: windows of each length (default 16)"},
      {"--tokens", "tokens", "maximum tokens of each document (default all)"},
      {"--tokenizer", "tokenizer", "tokenizer instead of the model's own"},
      {"--bos", "bos",
       "begin token before texts: as the run or the tokenizer's files say (auto), yes, no (default auto)"},
      {"--text-field", "text_field",
       "field of the objects of a .jsonl file of --data that holds the text (default: the run's own, or "
       "text)"},
      {"--separator", "separator",
       "separator between documents of --data: auto, endoftext, blank, none (default auto)"},
      {"--attention", "model.attention.type",
       "attention type: summary, full, window, lambda, axial, random, topk"},
      {"--fold", "model.attention.fold", "sizes of the fold, such as 0,32,32"},
      {"--window", "model.attention.window", "attention window in tokens"},
      {"--summary-tokens", "model.attention.summary_tokens", "summary tokens per block"},
      {"--sinks", "model.attention.sinks", "lambda: number of sink tokens"},
      {"--rope", "rope", "rotary scaling: linear (PI), ntk, yarn"},
      {"--rope-level", "model.rope.scaled_level",
       "restrict --rope to one level of positions: 0 tokens, 1 blocks of the last mode, …"},
      {"--factor", "factor", "scaling factor of --rope (default: length / trained length)"},
      {"--passkey", "passkey", "evaluate passkey retrieval in prompts of --lengths tokens", nothing},
      {"--depths", "depths", "depths of passkeys, from 0 (begin) to 1 (end of the prompt), such as 0,0.5,1"},
      {"--trials", "trials", "passkeys for each length and depth (default 4)"},
      {"--tasks", "tasks",
       "downstream tasks: lm_eval, longbench (all tasks of these), one such as longbench/trec, or TOML files",
       list},
      {"--task-data", "task_data",
       "folder of the tasks' JSONL files (default: that of each TOML file; needed for installed tasks)"},
      {"--limit", "limit", "maximum questions of each task (default all)"},
      {"--seed", "seed", "seed of the passkeys (default 0)"},
      {"--report", "report", "write tables and figures to FILE.html"},
  };
}

Result evaluate_language_model(const EvaluateRequest& request) {
  LanguageEvaluation wanted = evaluation_of(request);
  LanguageEvaluateOptions& measure = wanted.measure;
  const LanguageSource source = open_language_source(request.run, measure.tokenizer, measure.bos);
  const bool other = wanted.passkey || !wanted.tasks.empty();
  const bool asked = !measure.conventions.empty() || !measure.lengths.empty() || !measure.changes.empty();
  const bool recall = source.run && source.run->config.data.is_recall() && request.data.empty();
  require(!recall || (measure.conventions.empty() && !other), ErrorKind::usage,
          "{} was trained on key-value recall: it cannot be evaluated on text", source.name);
  if (measure.conventions.empty() && !other && !recall && (asked || !source.run))
    measure.conventions = {"sliding"};
  const bool own = !asked && source.run && !other;
  refuse_idle_options(source, wanted, request, own, recall);
  Json result = {{"model", source.name}};
  if (own) result["own"] = own_figures(source, request, measure);
  if (recall && asked) result["recall"] = evaluate_recall(source, measure);
  if (!measure.conventions.empty()) result["perplexity"] = evaluate_language(source, measure);
  if (wanted.passkey) result["passkey"] = passkeys(source, wanted);
  if (!wanted.tasks.empty()) result["tasks"] = questions(source, wanted);
  const std::vector<ResultTable> tables = evaluation_tables(result);
  if (!wanted.report.empty()) {
    report::HtmlPage page("Evaluation of " + source.name);
    add_tables(page, tables);
    page.write(wanted.report);
  }
  return {std::move(result), tables_text(tables)};
}

}  // namespace modewise::tasks
