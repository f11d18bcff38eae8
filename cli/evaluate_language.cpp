// `evaluate` for language models: a run's own figures, perplexity under conventions and at lengths, passkeys,
// questions.

#include "cli/evaluate_language.h"

#include <fmt/ranges.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/language_options.h"
#include "cli/task_verbs.h"
#include "modewise/core/error.h"
#include "modewise/report/html_page.h"
#include "modewise/report/table.h"
#include "modewise/tasks/language/passkey.h"
#include "modewise/tasks/language/question_scores.h"
#include "modewise/tasks/language/run.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_part.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;
using tasks::number;

// A header declares any context; passkeys fill one with text.
constexpr int64_t kLongestPasskey = 1 << 20;

tasks::LanguageEvaluateOptions measure_options(const EvaluateOptions& options) {
  tasks::LanguageEvaluateOptions out = options.language.measure;
  out.data = absolute_path(options.data);
  out.split = options.data.empty() ? options.split : "all";
  if (!options.language.rope.empty()) {
    out.changes.push_back("rope.scaling=" + options.language.rope);
    if (options.language.factor > 0)
      out.changes.push_back(fmt::format("rope.factor={}", options.language.factor));
    else
      out.stretch = true;
  }
  return out;
}

/// What metrics.json says of the run's own text, measured again.
Json own_figures(const tasks::LanguageSource& source, const EvaluateOptions& options) {
  tasks::LanguageConfig config = *source.run;
  const train::RunFolder run = train::RunFolder::open(options.run);
  if (options.data.empty() && options.split == "test" && tasks::test_is_unread(run)) {
    Json figures = tasks::judge_left_out_test(run, *source.model, config, source.tokenizer);
    return {{"split", "test"}, {"scores", std::move(figures["test"])}};
  }
  config.train.test = true;
  if (!options.data.empty()) {
    config.data.path = absolute_path(options.data);
    config.data.split_ratios = {1, 0, 0};
    config.data.validation = config.data.test = "";
  }
  const tasks::LanguageData data = tasks::load_language_data(config, source.tokenizer);
  const std::string split = options.data.empty() ? options.split : "all";
  Json scores = tasks::score_part(*source.model, config, data, split);
  return {{"split", split}, {"scores", std::move(scores)}};
}

std::string own_text(const Json& own) {
  const Json& scores = own["scores"];
  if (scores.contains("by_pairs")) return own["split"].get<std::string>() + ": " + recall_text(scores);
  return fmt::format(
      "{}: {} tokens predicted once in windows of the trained length: loss {:.4f}, perplexity {:.3f}, "
      "{:.4f} bits a byte\n",
      own["split"].get<std::string>(), Cell::count(scores["tokens"].get<int64_t>()).text(),
      number(scores, "loss"), number(scores, "perplexity"), number(scores, "bits_per_byte"));
}

std::vector<tasks::PasskeyCell> passkeys(const tasks::LanguageSource& source, const EvaluateOptions& options,
                                         const tasks::LanguageEvaluateOptions& measure) {
  require(source.tokenizer != nullptr, ErrorKind::usage, "{} has no tokenizer: name it with --tokenizer",
          source.name);
  tasks::PasskeyOptions wanted;
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
  if (!options.language.depths.empty()) wanted.depths = options.language.depths;
  wanted.trials = options.language.trials;
  wanted.seed = static_cast<uint64_t>(options.language.seed);
  std::vector<tasks::PasskeyCell> cells;
  for (const int64_t length : wanted.lengths) {
    const auto model = measure.changes.empty()
                           ? source.model
                           : tasks::remade_model(*source.model, tasks::evaluation_config(
                                                                    source.model->config(), measure, length));
    for (const tasks::PasskeyCell& cell : tasks::measure_passkeys(*model, *source.tokenizer, wanted, length))
      cells.push_back(cell);
  }
  return cells;
}

report::Table passkey_table(const std::vector<tasks::PasskeyCell>& cells) {
  report::Table table({{"tokens"}, {"depth %"}, {"found %"}, {"digits %"}, {"seconds"}});
  for (const tasks::PasskeyCell& cell : cells)
    table.add_row({cell.length, Cell(100 * cell.depth, 0), Cell(100 * cell.exact, 0),
                   Cell(100 * cell.digits, 0), Cell(cell.seconds, 2)});
  return table;
}

/// Every task of --tasks.
Json questions(const tasks::LanguageSource& source, const EvaluateOptions& options,
               const tasks::LanguageEvaluateOptions& measure) {
  require(source.tokenizer != nullptr, ErrorKind::usage, "{} has no tokenizer: name it with --tokenizer",
          source.name);
  const int64_t length = measure.lengths.empty() ? source.model->config().context : measure.lengths.front();
  const auto model = measure.changes.empty()
                         ? source.model
                         : tasks::remade_model(*source.model, tasks::evaluation_config(source.model->config(),
                                                                                       measure, length));
  Json out = Json::array();
  for (const std::string& file : options.language.tasks)
    out.push_back(tasks::score_questions(
        *model, source.tokenizer,
        tasks::load_questions(file, options.language.task_data, options.language.limit), length));
  return out;
}

std::string questions_text(const Json& all) {
  report::Table table({{"task"}, {"questions"}, {"accuracy %"}, {"normalised %"}, {"metric"}, {"score"}});
  for (const Json& one : all) {
    const bool choice = one["kind"] == "choice";
    const auto accuracy = [&](const char* key) {
      return choice
                 ? Cell::mean_sd(100 * number(one[key], "mean"), 100 * number(one[key], "standard_error"), 1)
                 : Cell("");
    };
    table.add_row({one["name"].get<std::string>(), one["questions"].get<int64_t>(), accuracy("accuracy"),
                   accuracy("accuracy_normalized"), choice ? "" : one["metric"].get<std::string>(),
                   choice ? Cell("") : Cell(number(one, "score"), 2)});
  }
  return table.to_text();
}

void write_page(const std::string& path, const Json& result, const std::vector<tasks::PasskeyCell>& cells) {
  report::HtmlPage page("Evaluation of " + result["model"].get<std::string>());
  if (result.contains("perplexity")) {
    page.add_section("Perplexity");
    page.add_table(tasks::evaluation_table(result["perplexity"]));
    std::vector<report::CaptionedFigure> figures;
    for (report::LineChart& chart : tasks::length_figures({result["perplexity"]}))
      figures.push_back({std::move(chart), ""});
    page.add_figure_grid(figures);
  }
  if (result.contains("recall")) {
    page.add_section("Recall");
    page.add_table(tasks::evaluation_table(result["recall"]));
    for (report::LineChart& chart : tasks::length_figures({result["recall"]}))
      page.add_figure(std::move(chart));
  }
  if (!cells.empty()) {
    page.add_section("Passkeys");
    page.add_figure(tasks::passkey_figure(cells));
    page.add_table(passkey_table(cells));
  }
  page.write(path);
}

}  // namespace

void LanguageEvaluateFlags::add_to(CLI::App& command) {
  const auto add = [&](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->group("Language models");
  };
  const auto change = [&](const char* name, const std::string& key, const char* help) {
    command
        .add_option_function<std::string>(
            name,
            [this, key](const std::string& value) {
              measure.changes.push_back(key + "=" + (value == "tensor" ? "causal" : value));
            },
            help)
        ->group("Language models");
  };
  add("--convention", measure.conventions, "sliding, halves, rolling, stream, spread; several by commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"sliding", "halves", "rolling", "stream", "spread"}));
  add("--lengths", measure.lengths,
      "tokens of a window, or of a sample of recall, such as 512,1024; the trained length without")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{2}, int64_t{1} << 40));
  add("--stride", measure.stride, "sliding and spread: tokens predicted a window")
      ->check(CLI::PositiveNumber);
  add("--windows", measure.windows, "spread: windows of each length")->check(CLI::PositiveNumber);
  add("--tokens", measure.most_tokens, "at most so many of each document")->check(CLI::PositiveNumber);
  add("--tokenizer", measure.tokenizer, "in place of the model's own");
  add("--separator", measure.separator, "between documents of --data: auto, endoftext, blank, none")
      ->check(CLI::IsMember({"auto", "endoftext", "blank", "none"}));
  change("--attention", "attention.form",
         "another form: causal (or tensor), full, window, lambda, axial, random, topk");
  change("--fold", "attention.fold", "sizes such as 0,32,32");
  change("--window", "attention.window", "tokens seen one by one");
  change("--slots", "attention.slots", "summaries a block");
  change("--sinks", "attention.sinks", "of lambda: first tokens that stay visible");
  add("--rope", rope, "stretched rotary codes: linear (PI), ntk, yarn")
      ->check(CLI::IsMember({"linear", "ntk", "yarn"}));
  change("--rope-level", "rope.scaled_level",
         "the only level of positions that --rope stretches: 0 the tokens, 1 blocks of the last mode, …");
  add("--factor", factor, "by which --rope stretches; without it each length over the trained one")
      ->check(CLI::PositiveNumber);
  command.add_flag("--passkey", passkey, "hide numbers in prompts of --lengths tokens and ask for them")
      ->group("Language models");
  add("--depths", depths, "of passkeys: 0 begins, 1 ends the prompt; such as 0,0.5,1")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0));
  add("--trials", trials, "passkeys for each length and depth")->check(CLI::PositiveNumber);
  add("--tasks", tasks, "TOML files of downstream tasks, such as experiments/language/tasks/race.toml");
  add("--task-data", task_data, "folder of the tasks' JSONL files; beside each TOML file without");
  add("--limit", limit, "questions of each task, at most")->check(CLI::PositiveNumber);
  add("--seed", seed, "of the passkeys")->check(CLI::NonNegativeNumber);
}

int evaluate_language_model(const Program& program, const EvaluateOptions& options) {
  const LanguageEvaluateFlags& flags = options.language;
  const tasks::LanguageSource source = tasks::open_language_source(options.run, flags.measure.tokenizer);
  tasks::LanguageEvaluateOptions measure = measure_options(options);
  const bool other = flags.passkey || !flags.tasks.empty();
  const bool asked = !measure.conventions.empty() || !measure.lengths.empty() || !measure.changes.empty();
  const bool recall = source.run && source.run->data.is_recall() && options.data.empty();
  require(!recall || (measure.conventions.empty() && !other), ErrorKind::usage,
          "{} has learnt to recall key-value pairs: it knows no text to measure", source.name);
  if (measure.conventions.empty() && !other && !recall && (asked || !source.run))
    measure.conventions = {"sliding"};
  Json result = {{"model", source.name}};
  std::string text;
  std::vector<tasks::PasskeyCell> cells;
  if (!asked && source.run && !other) {
    result["own"] = own_figures(source, options);
    text += own_text(result["own"]);
  }
  if (recall && asked) {
    result["recall"] = tasks::evaluate_recall(source, measure);
    text += tasks::evaluation_table(result["recall"]).to_text();
  }
  if (!measure.conventions.empty()) {
    result["perplexity"] = tasks::evaluate_language(source, measure);
    text += tasks::evaluation_table(result["perplexity"]).to_text();
  }
  if (flags.passkey) {
    cells = passkeys(source, options, measure);
    result["passkey"] = tasks::to_json(cells);
    text += passkey_table(cells).to_text();
  }
  if (!flags.tasks.empty()) {
    result["tasks"] = questions(source, options, measure);
    text += questions_text(result["tasks"]);
  }
  if (!options.out.empty()) write_page(options.out, result, cells);
  print_result(program, result, text);
  return 0;
}

}  // namespace modewise::cli
