#include "modewise/tasks/language/evaluation.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/report/html_page.h"
#include "modewise/report/table.h"
#include "modewise/tasks/language/passkey.h"
#include "modewise/tasks/language/question_scores.h"
#include "modewise/tasks/language/run.h"
#include "modewise/tasks/language/tables.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

// A header declares any context; passkeys fill one with text.
constexpr int64_t kLongestPasskey = 1 << 20;

/// The settings of a request: "model.KEY=value" are changes of the model, the others fields.
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
  if (!out.rope.empty()) {
    out.measure.changes.push_back("rope.scaling=" + out.rope);
    if (out.factor > 0)
      out.measure.changes.push_back(fmt::format("rope.factor={}", out.factor));
    else
      out.measure.stretch = true;
  }
  return out;
}

/// What metrics.json says of the run's own text, measured again.
Json own_figures(const LanguageSource& source, const EvaluateRequest& options) {
  LanguageConfig config = *source.run;
  const train::RunFolder run = train::RunFolder::open(options.run);
  if (options.data.empty() && options.split == "test" && test_is_unread(run)) {
    Json figures = judge_left_out_test(run, *source.model, config, source.tokenizer);
    return {{"split", "test"}, {"scores", std::move(figures["test"])}};
  }
  config.train.test = true;
  if (!options.data.empty()) {
    config.data.path = absolute_path(options.data);
    config.data.split_ratios = {1, 0, 0};
    config.data.validation = config.data.test = "";
  }
  const LanguageData data = load_language_data(config, source.tokenizer);
  const std::string split = options.data.empty() ? options.split : "all";
  Json scores = score_part(*source.model, config, data, split);
  return {{"split", split}, {"scores", std::move(scores)}};
}

std::vector<PasskeyCell> passkeys(const LanguageSource& source, const LanguageEvaluation& asked) {
  const LanguageEvaluateOptions& measure = asked.measure;
  require(source.tokenizer != nullptr, ErrorKind::usage, "{} has no tokenizer: name it with --tokenizer",
          source.name);
  PasskeyOptions wanted;
  wanted.lengths = measure.lengths;
  if (wanted.lengths.empty()) {
    const int64_t context = source.model->config().context;
    require(context <= kLongestPasskey, ErrorKind::usage,
            "{}: passkeys are hidden in texts as long as its context, {} tokens, at most {} unless --lengths "
            "says "
            "so",
            source.name, context, kLongestPasskey);
    wanted.lengths.push_back(context);
  }
  if (!asked.depths.empty()) wanted.depths = asked.depths;
  wanted.trials = asked.trials;
  wanted.seed = static_cast<uint64_t>(asked.seed);
  std::vector<PasskeyCell> cells;
  for (const int64_t length : wanted.lengths) {
    const auto model =
        measure.changes.empty()
            ? source.model
            : remade_model(*source.model, evaluation_config(source.model->config(), measure, length));
    for (const PasskeyCell& cell : measure_passkeys(*model, *source.tokenizer, wanted, length))
      cells.push_back(cell);
  }
  return cells;
}

/// Every task of --tasks.
Json questions(const LanguageSource& source, const LanguageEvaluation& asked) {
  const LanguageEvaluateOptions& measure = asked.measure;
  require(source.tokenizer != nullptr, ErrorKind::usage, "{} has no tokenizer: name it with --tokenizer",
          source.name);
  const int64_t length = measure.lengths.empty() ? source.model->config().context : measure.lengths.front();
  const auto model =
      measure.changes.empty()
          ? source.model
          : remade_model(*source.model, evaluation_config(source.model->config(), measure, length));
  Json out = Json::array();
  for (const std::string& file : asked.tasks)
    out.push_back(score_questions(*model, source.tokenizer,
                                  load_questions(file, asked.task_data, asked.limit), length));
  return out;
}

void write_page(const std::string& path, const Json& result, const std::vector<PasskeyCell>& cells) {
  report::HtmlPage page("Evaluation of " + result["model"].get<std::string>());
  if (result.contains("perplexity")) {
    page.add_section("Perplexity");
    page.add_table(evaluation_table(result["perplexity"]));
    std::vector<report::CaptionedFigure> figures;
    for (report::LineChart& chart : length_figures({result["perplexity"]}))
      figures.push_back({std::move(chart), ""});
    page.add_figure_grid(figures);
  }
  if (result.contains("recall")) {
    page.add_section("Recall");
    page.add_table(evaluation_table(result["recall"]));
    for (report::LineChart& chart : length_figures({result["recall"]})) page.add_figure(std::move(chart));
  }
  if (!cells.empty()) {
    page.add_section("Passkeys");
    page.add_figure(passkey_figure(cells));
    page.add_table(passkey_table(cells));
  }
  page.write(path);
}

}  // namespace

void LanguageEvaluation::fields(Fields& f) {
  const double most_length = 0x1p40;
  f.add("conventions", measure.conventions, "how text is cut into windows",
        {.one_of = {"sliding", "halves", "rolling", "stream", "spread"}});
  f.add("lengths", measure.lengths, "tokens of a window", {.min = 2, .max = most_length});
  f.add("stride", measure.stride, "tokens predicted a window", {.min = 1});
  f.add("windows", measure.windows, "windows of each length", {.min = 1});
  f.add("tokens", measure.most_tokens, "at most so many of each document", {.min = 1});
  f.add("tokenizer", measure.tokenizer, "in place of the model's own");
  f.add("separator", measure.separator, "between documents",
        {.one_of = {"auto", "endoftext", "blank", "none"}});
  f.add("rope", rope, "stretched rotary codes", {.one_of = {"linear", "ntk", "yarn"}});
  f.add("factor", factor, "by which they are stretched", {.min = std::numeric_limits<double>::min()});
  f.add("passkey", passkey, "hide numbers in prompts and ask for them");
  f.add("depths", depths, "where numbers are hidden", {.min = 0, .max = 1});
  f.add("trials", trials, "passkeys for each length and depth", {.min = 1});
  f.add("tasks", tasks, "TOML files of downstream tasks");
  f.add("task_data", task_data, "folder of their JSONL files");
  f.add("limit", limit, "questions of each task, at most", {.min = 1});
  f.add("seed", seed, "of the passkeys", {.min = 0});
  f.add("report", report, "HTML file with tables and figures");
}

std::vector<ShortOption> language_evaluate_options() {
  using enum ShortOption::Takes;
  return {
      {"--convention", "conventions", "sliding, halves, rolling, stream, spread; several by commas"},
      {"--lengths", "lengths",
       "tokens of a window, or of a sample of recall, such as 512,1024; the trained length without"},
      {"--stride", "stride", "sliding and spread: tokens predicted a window"},
      {"--windows", "windows", "spread: windows of each length"},
      {"--tokens", "tokens", "at most so many of each document"},
      {"--tokenizer", "tokenizer", "in place of the model's own"},
      {"--separator", "separator", "between documents of --data: auto, endoftext, blank, none"},
      {"--attention", "model.attention.form",
       "another form: causal (or tensor), full, window, lambda, axial, random, topk"},
      {"--fold", "model.attention.fold", "sizes such as 0,32,32"},
      {"--window", "model.attention.window", "tokens seen one by one"},
      {"--slots", "model.attention.slots", "summaries a block"},
      {"--sinks", "model.attention.sinks", "of lambda: first tokens that stay visible"},
      {"--rope", "rope", "stretched rotary codes: linear (PI), ntk, yarn"},
      {"--rope-level", "model.rope.scaled_level",
       "the only level of positions that --rope stretches: 0 the tokens, 1 blocks of the last mode, …"},
      {"--factor", "factor", "by which --rope stretches; without it each length over the trained one"},
      {"--passkey", "passkey", "hide numbers in prompts of --lengths tokens and ask for them", nothing},
      {"--depths", "depths", "of passkeys: 0 begins, 1 ends the prompt; such as 0,0.5,1"},
      {"--trials", "trials", "passkeys for each length and depth"},
      {"--tasks", "tasks", "TOML files of downstream tasks, such as experiments/language/tasks/race.toml",
       list},
      {"--task-data", "task_data", "folder of the tasks' JSONL files; beside each TOML file without"},
      {"--limit", "limit", "questions of each task, at most"},
      {"--seed", "seed", "of the passkeys"},
      {"--report", "report", "tables and figures as FILE.html"},
  };
}

Result evaluate_language_model(const EvaluateRequest& request) {
  const LanguageEvaluation wanted = evaluation_of(request);
  LanguageEvaluateOptions measure = wanted.measure;
  const LanguageSource source = open_language_source(request.run, measure.tokenizer);
  const bool other = wanted.passkey || !wanted.tasks.empty();
  const bool asked = !measure.conventions.empty() || !measure.lengths.empty() || !measure.changes.empty();
  const bool recall = source.run && source.run->data.is_recall() && request.data.empty();
  require(!recall || (measure.conventions.empty() && !other), ErrorKind::usage,
          "{} has learnt to recall key-value pairs: it knows no text to measure", source.name);
  if (measure.conventions.empty() && !other && !recall && (asked || !source.run))
    measure.conventions = {"sliding"};
  Json result = {{"model", source.name}};
  std::string text;
  std::vector<PasskeyCell> cells;
  if (!asked && source.run && !other) {
    result["own"] = own_figures(source, request);
    text += own_scores_text(result["own"]);
  }
  if (recall && asked) {
    result["recall"] = evaluate_recall(source, measure);
    text += evaluation_table(result["recall"]).to_text();
  }
  if (!measure.conventions.empty()) {
    result["perplexity"] = evaluate_language(source, measure);
    text += evaluation_table(result["perplexity"]).to_text();
  }
  if (wanted.passkey) {
    cells = passkeys(source, wanted);
    result["passkey"] = to_json(cells);
    text += passkey_table(cells).to_text();
  }
  if (!wanted.tasks.empty()) {
    result["tasks"] = questions(source, wanted);
    text += questions_text(result["tasks"]);
  }
  if (!wanted.report.empty()) write_page(wanted.report, result, cells);
  return {std::move(result), std::move(text)};
}

}  // namespace modewise::tasks
