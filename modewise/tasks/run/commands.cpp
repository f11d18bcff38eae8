#include "modewise/tasks/run/commands.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/folder.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/same_work.h"
#include "modewise/tasks/run/test_split.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The samples of a command that uses one split. `moved`: `data` are the run's own. The test split stays
/// unread if neither the training nor the command reads it; else sizes may follow from its samples.
DataRequest samples_of(Run& run, const std::string& data, const std::string& masks, const std::string& split,
                       bool moved) {
  DataRequest samples;
  samples.path = data;
  samples.masks = masks;
  samples.moved = moved;
  samples.split = split;
  samples.with_test = !samples.own() || split == "test" || split == "all" || run.settings().train.test;
  return samples;
}

void refuse_steps(const TaskSpec& task, const PredictRequest& request) {
  require(request.steps == 0 && request.future.empty(), ErrorKind::usage,
          "--{} is only for forecasts; {} is {}", request.steps != 0 ? "steps" : "future", request.run,
          task.subject);
}

/// --masks are for the task that is trained with them.
void refuse_masks(const TaskSpec& task, const std::string& run, const std::string& masks) {
  const bool has =
      std::ranges::any_of(task.options, [](const ShortOption& one) { return one.flag == "--masks"; });
  require(masks.empty() || has, ErrorKind::usage, "--masks is only for segmentation; {} is {}", run,
          task.subject);
}

}  // namespace

void refuse_without_effect(const TaskSpec& task, const EvaluateRequest& request,
                           std::span<const OptionNeed> needs) {
  for (const OptionNeed& need : needs) {
    if (need.met) continue;
    const auto has_key = [&](const std::string& setting) {
      return std::ranges::any_of(task.evaluate_options.options, [&](const ShortOption& one) {
        return one.flag == need.option && setting.starts_with(one.key + "=");
      });
    };
    const bool given = std::ranges::any_of(request.settings, has_key) ||
                       (need.option == "--detail" && request.detail) ||
                       (need.option == "--data" && !request.data.empty()) ||
                       (need.option == "--split" && request.split != "test");
    require(!given, ErrorKind::usage, "{} has no effect {}", need.option, need.needs);
  }
}

Result evaluate_run(const TaskSpec& task, const EvaluateRequest& request) {
  refuse_masks(task, request.run, request.masks);
  require(request.settings.empty() || !task.evaluate_options.options.empty(), ErrorKind::usage,
          "{} is of the task '{}', whose evaluation has no options", request.run, task.name);
  return task.evaluate == nullptr ? evaluate_split(task, request) : task.evaluate(request);
}

std::unique_ptr<Run> open_for_evaluation(const TaskSpec& task, const EvaluateRequest& request) {
  std::unique_ptr<Run> run = open_run(task, request.run);
  DataRequest samples = samples_of(*run, request.data, request.masks, request.split, false);
  samples.unchanged = samples.own();
  run->load(samples);
  return run;
}

Result evaluate_split(const TaskSpec& task, const EvaluateRequest& request) {
  train::Workers& workers = train::workers();
  const std::unique_ptr<Run> run = open_for_evaluation(task, request);
  if (task.in_shares) require_same_work(run->folder(), request.split, run->hash());
  const bool unread = request.data.empty() && request.split == "test" && test_is_unread(run->folder());
  Json evaluation = run->evaluate(request.split, unread, workers);
  if (!workers.is_rank_zero()) return {};
  if (unread) write_test_figures(run->folder(), {{"test", evaluation}}, run->hash());
  const std::string split = evaluation.at("split");
  const std::vector<ResultTable> tables = run->tables({{split, evaluation}});
  if (request.detail && std::ranges::none_of(tables, [](const ResultTable& one) { return one.detail; }))
    spdlog::warn("--detail has no effect: there are no further tables of {}", request.run);
  return {std::move(evaluation), tables_text(tables, request.detail)};
}

bool wants_npz(const std::string& out) {
  const std::string ending = fs::path(out).extension().string();
  require(out.empty() || ending == ".npz" || ending == ".csv", ErrorKind::usage,
          "--out must end in .csv or .npz, got '{}'", out);
  return ending == ".npz";
}

Result predict_run(const TaskSpec& task, const PredictRequest& request) {
  require(task.predict.predict != nullptr, ErrorKind::usage, "{} is {}: use {}", request.run, task.subject,
          task.predict_with);
  if (!task.predict.steps) refuse_steps(task, request);
  if (task.predict.table) {
    wants_npz(request.out);  // checks the extension before computing anything
    prepare_output(request.out, request.force);
  }
  const std::unique_ptr<Run> run = open_run(task, request.run);
  return task.predict.predict(*run, request);
}

void write_report(Run& run, const fs::path& out) {
  const at::NoGradGuard no_grad;
  report::HtmlPage page = run.page(evaluated_metrics(run.folder()));
  page.add_section("Settings");
  page.add_preformatted(run.folder().read_config(), "config.toml");
  page.write(out);
}

void report_run(const TaskSpec& task, const std::string& path, const std::string& data, const fs::path& out) {
  evaluated_metrics(train::RunFolder::open(path));  // before the run is opened
  const std::unique_ptr<Run> run = open_run(task, path);
  const bool unread = test_is_unread(run->folder());
  run->load(samples_of(*run, data, "", unread ? "validation" : "test", true));
  write_report(*run, out);
}

Result explain_run(const TaskSpec& task, const ExplainRequest& request, const std::string& out, bool force) {
  require(task.explain != nullptr, ErrorKind::usage,
          "{0} is of the task '{1}', which explain does not support: modewise decompose {2} measures its "
          "attention, layer by layer and head by head",
          request.run, task.name, command_word(request.run));
  const fs::path folder = out.empty() ? fs::path(request.run) / "explain" : fs::path(out);
  if (!out.empty())
    for (const char* file : kExplanationFiles) prepare_output(folder / file, force);
  refuse_masks(task, request.run, request.masks);
  const at::NoGradGuard no_grad;
  const std::unique_ptr<Run> run = open_run(task, request.run);
  if (request.data.empty() && request.options.split == "test")
    warn_of_unread_test(run->folder(), "this explanation reads its test split");
  run->load(samples_of(*run, request.data, request.masks, request.options.split, request.data.empty()));
  const Explanation explanation = task.explain(*run, request.options);
  make_folders(folder);
  remove_stale_temporaries(folder, [](std::string_view name) {
    return std::ranges::find(kExplanationFiles, name) != std::end(kExplanationFiles);
  });
  write_explanation(explanation, folder);
  nlohmann::ordered_json json = explanation_json(explanation);
  json["report"] = (folder / "explain.html").string();
  std::string text = explanation.title + "\n";
  if (!explanation.ranks.empty()) text += "\nstable rank\n" + rank_table(explanation).to_text();
  for (const Influence& one : explanation.influences) {
    const auto maximum = std::max_element(one.effect.begin(), one.effect.end()) - one.effect.begin();
    text += fmt::format("\n{}: occluding {} changes the output most ({:.4g})", one.mode,
                        one.places[static_cast<size_t>(maximum)], one.effect[static_cast<size_t>(maximum)]);
  }
  text += fmt::format("\n\n{}\n", (folder / "explain.html").string());
  return {std::move(json), std::move(text)};
}

}  // namespace modewise::tasks
