#include "modewise/tasks/text/spec.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "modewise/core/data_files.h"
#include "modewise/data/text/glue.h"
#include "modewise/data/text/text_files.h"
#include "modewise/tasks/classification/class_tables.h"
#include "modewise/tasks/run/load_config.h"
#include "modewise/tasks/run/rank_tracking.h"
#include "modewise/tasks/text/attention.h"
#include "modewise/tasks/text/explain.h"
#include "modewise/tasks/text/objective_run.h"
#include "modewise/tasks/text/run.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::unique_ptr<Run> create(const Settings& settings) {
  auto config = load_config<TextTaskConfig>(settings);
  if (config.is("classification")) return std::make_unique<TextRun>(std::move(config));
  return make_objective_run(std::move(config));
}

Result predict(Run& run, const PredictRequest& request) {
  return as<EncoderRun>(run).predict(request);
}

/// Bar charts of accuracy or correlation, then learning curves.
void draw_texts(report::HtmlPage& page, std::span<const RunGroup> groups) {
  std::vector<report::CaptionedFigure> figures;
  for (const auto& [title, place, factor] :
       {std::tuple("Accuracy %", "/test/accuracy", 100.0), {"Pearson", "/test/pearson", 1.0}})
    if (!groups.front().values(place).empty())
      figures.push_back({group_bars(title, groups, place, factor), ""});
  for (const RunGroup& group : groups) {
    const auto [name, lines] = learning_lines(group);
    if (lines.size() > 1) figures.push_back({curve_figure(lines, {"val_loss", "train_loss"}, name), ""});
  }
  if (!figures.empty()) page.add_figure_grid(figures);
}

const Comparison& comparison() {
  using Best = report::Column::Best;
  static const Comparison made = [] {
    Comparison all = {{{{"accuracy %", Best::highest}, "/test/accuracy", 1, 100},
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
                      draw_texts,
                      {"text.evaluation_batch"}};
    for (Comparison::Figure& figure : all.columns) figure.where_any = true;
    for (const char* part : {"test", "validation"})
      for (const char* name : {"accuracy", "matthews", "f1", "mismatched_accuracy", "pearson", "spearman",
                               "r2", "mae", "perplexity", "loss"}) {
        const std::string prefix = std::string(part) == "test" ? "" : "validation_";
        all.json.emplace_back(prefix + name, fmt::format("/{}/{}", part, name).c_str());
      }
    return all;
  }();
  return made;
}

Result describe_data(const Settings& settings) {
  auto config = load_config<TextTaskConfig>(settings);
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
  if (config.tokenizer.empty() && config.model.from.empty()) config.tokenizer = "bytes";
  const std::unique_ptr<ObjectiveRun> run = make_objective_run(std::move(config));
  const bool masked = run->config.is("masked_lm");
  if (masked) run->reading = begin_reading(run->config);
  run->load_data("", true);
  return {run->describe_data(),
          fmt::format("{}: {}{}\n", run->config.data.path, run->data_text(true),
                      masked ? fmt::format(" (tokenizer {})", run->reading.tokenizer->name()) : "")};
}

/// Labelled texts, a folder of GLUE, or one of its files.
bool owns(const fs::path& data) {
  const fs::path path = fs::absolute(data).lexically_normal(), parent = path.parent_path();
  const bool file = lower_extension(path) == ".tsv" && fs::exists(parent / "train.tsv");
  return data::holds_labelled_texts(data) ||
         ((file || fs::is_directory(path)) && data::glue_layout_of(file ? parent : path) != nullptr);
}

}  // namespace

const TaskSpec text_spec = {
    .name = "text",
    .command = "text",
    .subject = "a text encoder",
    .summary =
        "Trains a text encoder: classification or regression of texts and pairs, or masked language "
        "modelling.",
    .example = "modewise train text --data CoLA --from roberta-base",
    .data_help =
        "GLUE's folder, a folder with train and test, one .csv, .tsv or file of JSON lines, or documents "
        "(data.path)",
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
    .create = create,
    .describe_data = describe_data,
    .comparison = comparison,
    .owns = owns,
    .predict = {predict},
    .explain = explain_text,
    .attention = text_attention,
};

}  // namespace modewise::tasks
