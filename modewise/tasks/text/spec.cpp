#include "modewise/tasks/text/spec.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/softmax.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/data/text/glue.h"
#include "modewise/data/text/text_files.h"
#include "modewise/tasks/classification/class_tables.h"
#include "modewise/tasks/classification/classification_spec.h"
#include "modewise/tasks/text/attention.h"
#include "modewise/tasks/text/explain.h"
#include "modewise/tasks/text/objective_run.h"
#include "modewise/tasks/text/run.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

std::unique_ptr<ClassificationRun> make_run() {
  return std::make_unique<TextRun>();
}

TextTaskConfig config_of_run(const std::filesystem::path& path) {
  const train::RunFolder folder = train::RunFolder::open(path);
  folder.require_task("text");
  return read_run_config<TextTaskConfig>(folder);
}

bool classifies(const std::string& run) {
  return config_of_run(run).is("classification");
}

/// Job of the objective in the config.
class TextJob final : public Training {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    const bool classify = load_text_config(file, assignments).is("classification");
    training_ = classify ? make_classification_training(make_run()) : make_objective_training();
    training_->load_config(file, assignments);
  }
  void load_data() override { training_->load_data(); }
  std::string run_stem() const override { return training_->run_stem(); }
  int64_t seed() const override { return training_->seed(); }
  int64_t shards() const override { return training_->shards(); }
  bool reads_test() const override { return training_->reads_test(); }
  std::string data_hash() const override { return training_->data_hash(); }
  Fields fields() override { return training_->fields(); }
  Json describe_data() const override { return training_->describe_data(); }
  void announce() const override { training_->announce(); }
  analysis::ModelCost cost() const override { return training_->cost(); }
  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return training_->train(folder, resume, accept_changes);
  }
  bool wants_report() const override { return training_->wants_report(); }
  void write_report(const train::RunFolder& folder) override { training_->write_report(folder); }
  std::string summary(const Json& metrics) const override { return training_->summary(metrics); }

 private:
  std::unique_ptr<Training> training_;
};

Result evaluate(const EvaluateRequest& request) {
  return classifies(request.run) ? evaluate_classification(make_run(), request) : evaluate_objective(request);
}

Result predict(const PredictRequest& request) {
  return classifies(request.run) ? predict_classification(make_run(), request) : predict_objective(request);
}

void write_report(const std::string& run, const std::string& data, const std::filesystem::path& out) {
  if (classifies(run))
    report_classification(make_run(), run, data, out);
  else
    report_objective(run, data, out);
}

Explanation explanation_of(const TextTaskConfig& config, const train::RunFolder& folder,
                           const ExplainOptions& options) {
  Explanation e;
  e.title = fmt::format("{} on {}", model_title(config), data_title(config));
  e.subtitle = "Attention and occlusion of tokens";
  e.facts = {{"run", folder.path().string()},
             {"samples", fmt::format("{} of the {} split", options.singles, options.split)}};
  return e;
}

Explanation explain_classifier(const ExplainRequest& request) {
  auto made = std::make_unique<TextRun>();
  TextRun& run = *made;
  const OpenedRun opened = open_run(std::move(made), request.run);
  run.load_samples_of(request.data, true);
  const std::string split = request.data.empty() ? request.options.split : run.asked_split(request.data);
  const std::vector<int64_t> samples = run.set().split(split);
  require(!samples.empty(), ErrorKind::data, "{}: there are no {} texts", run.set().source, split);
  const TextReading& reading = run.reading();
  models::TextClassifier& model = run.model().text();
  ExplainedTexts given{reading,
                       {},
                       [&](const models::TextInput& input) { return model.attention(input); },
                       [&](const models::TextInput& input) { return at::softmax(model.forward(input), -1); }};
  for (const int64_t i : spread_samples(std::ssize(samples), request.options.singles)) {
    const int64_t sample = samples[static_cast<size_t>(i)];
    given.texts.emplace_back(run.set().called(sample), reading.framed(run.set(), sample));
  }
  Explanation e = explanation_of(run.config, opened.folder, request.options);
  explain_texts(given, request.options, e);
  return e;
}

Explanation explain_objective(const ExplainRequest& request) {
  const OpenedObjective opened = open_objective(request.run);
  const ObjectiveRun& run = *opened.run;
  opened.run->load_data(request.data, true);
  const std::string split = request.data.empty() ? request.options.split : "test";
  ExplainedTexts given{run.reading, run.shown_texts(split, request.options.singles),
                       [&](const models::TextInput& input) { return run.attention(input); }};
  if (run.config.is("regression"))
    given.predicted = [&](const models::TextInput& input) {
      return dynamic_cast<models::TextClassifier&>(run.module()).forward(input);
    };
  Explanation e = explanation_of(run.config, opened.folder, request.options);
  explain_texts(given, request.options, e);
  return e;
}

Explanation explain(const ExplainRequest& request) {
  const at::NoGradGuard no_grad;
  return classifies(request.run) ? explain_classifier(request) : explain_objective(request);
}

FinishedRun read_text_run(const std::filesystem::path& path) {
  return read_finished<TextTaskConfig>(path, "text", {"text.evaluation_batch"}, data_title);
}

/// Bar charts of accuracy or correlation, then learning curves.
void draw_texts(report::HtmlPage& page, std::span<const RunGroup> groups) {
  std::vector<report::CaptionedFigure> figures;
  for (const auto& [title, place, factor] :
       {std::tuple("Accuracy %", "/test/accuracy", 100.0), {"Pearson", "/test/pearson", 1.0}})
    if (!groups.front().values(place).empty())
      figures.push_back({group_bars(title, groups, place, factor), ""});
  for (const RunGroup& group : groups) {
    const auto lines = train::RunFolder::open(group.runs.front().path).read_metric_lines();
    if (lines.size() > 1)
      figures.push_back({curve_figure(lines, {"val_loss", "train_loss"}, group.name), ""});
  }
  if (!figures.empty()) page.add_figure_grid(figures);
}

const Comparison& comparison() {
  using Best = report::Column::Best;
  static const Comparison made = [] {
    Comparison all = {read_text_run,
                      {{{"accuracy %", Best::highest}, "/test/accuracy", 1, 100},
                       {{"Matthews", Best::highest}, "/test/matthews", 3},
                       {{"F1 %", Best::highest}, "/test/f1", 1, 100},
                       {{"mismatched %", Best::highest}, "/test/mismatched_accuracy", 1, 100},
                       {{"Pearson", Best::highest}, "/test/pearson", 3},
                       {{"Spearman", Best::highest}, "/test/spearman", 3},
                       {{"perplexity", Best::lowest}, "/test/perplexity", 2},
                       {{"loss", Best::lowest}, "/test/loss", 3},
                       {{"validation accuracy %"}, "/validation/accuracy", 1, 100},
                       {{"validation Pearson"}, "/validation/pearson", 3}},
                      {},
                      "Comparison of text encoders",
                      "Test texts",
                      draw_texts};
    for (Comparison::Figure& figure : all.columns) figure.where_any = true;
    for (const char* part : {"test", "validation"})
      for (const char* name : {"accuracy", "matthews", "f1", "mismatched_accuracy", "pearson", "spearman",
                               "perplexity", "loss"}) {
        const std::string prefix = std::string(part) == "test" ? "" : "validation_";
        all.json.emplace_back(prefix + name, fmt::format("/{}/{}", part, name).c_str());
      }
    return all;
  }();
  return made;
}

Result describe_data(const std::string& file, const std::vector<std::string>& assignments) {
  TextTaskConfig config = load_text_config(file, assignments);
  if (config.is("classification")) {
    const data::TextSet set = data::load_texts(config.data, false);
    Json head = {{"source", set.source},
                 {"texts", set.count()},
                 {"pairs", set.pairs()},
                 {"layout", set.layout},
                 {"classes", set.classes}};
    return describe_set(
        set, std::move(head),
        fmt::format("{}: {} {}", set.source, set.count(), set.pairs() ? "pairs of texts" : "texts"));
  }
  const std::unique_ptr<ObjectiveRun> run = make_objective_run(config);
  if (config.is("masked_lm")) run->reading = begin_reading(run->config);
  run->load_data("", true);
  return {run->describe(), fmt::format("{}: {}\n", config.data.path, run->data_text(true))};
}

bool owns(const std::filesystem::path& data) {
  return data::holds_labelled_texts(data) ||
         (std::filesystem::is_directory(data) && data::glue_layout_of(data) != nullptr);
}

}  // namespace

const TaskSpec text_spec = {
    .name = "text",
    .command = "text",
    .summary =
        "Trains a text encoder: classification or regression of texts and pairs, or masked language "
        "modelling.",
    .example = "modewise train text --data CoLA --from roberta-base",
    .data_help =
        "GLUE's folder, a folder with train and test, one .jsonl, .csv or .tsv, or documents (data.path)",
    .model_help = "",
    .options = {{"--from", "model.from", "folder of a pretrained model in Hugging Face format"},
                {"--tokenizer", "tokenizer", "tokenizer file or folder, for a model from scratch"},
                {"--objective", "text.objective",
                 "objective: classification, regression or masked_lm (default classification)"},
                {"--attention", "model.attention.type",
                 "attention type: full, axial, window, random, topk, linformer, nystroemformer, performer, "
                 "reformer …"},
                {"--fold", "model.attention.fold", "sizes of the fold, such as 0,8,8"},
                {"--length", "data.length", "maximum length in tokens"},
                {"--glue", "data.glue", "GLUE task, if the folder's name does not determine it"},
                {"--allow-broken", "data.allow_broken", "skip malformed rows", ShortOption::Takes::nothing}},
    .validation = {{"/validation/accuracy", "validation accuracy %", "highest", 1, 100},
                   {"/validation/matthews", "validation Matthews", "highest", 3},
                   {"/validation/pearson", "validation Pearson", "highest", 3},
                   {"/validation/loss", "validation loss", "lowest", 3}},
    .owns = owns,
    .defaults = default_config<TextTaskConfig>,
    .config = any_config<load_text_config>,
    .training = make_training<TextJob>,
    .evaluate = evaluate,
    .predict = predict,
    .write_report = write_report,
    .comparison = comparison,
    .explain = explain,
    .attention = text_attention,
    .describe_data = describe_data,
};

}  // namespace modewise::tasks
