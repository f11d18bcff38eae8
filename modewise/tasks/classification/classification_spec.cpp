#include "modewise/tasks/classification/classification_spec.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "modewise/core/nearest_name.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/classification/class_predictions.h"
#include "modewise/tasks/classification/class_tables.h"
#include "modewise/tasks/classification/class_task.h"
#include "modewise/tasks/classification/classification_pages.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_split.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class ClassificationTraining final : public Training {
 public:
  explicit ClassificationTraining(std::unique_ptr<ClassificationRun> run) : run_(std::move(run)) {}

  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    run_->load_config(file, assignments);
    run_->require_data();
  }
  void load_data() override { run_->load_samples(reads_test()); }
  std::string run_stem() const override { return run_stem_of(run_->data_name(), run_->model_name()); }
  int64_t seed() const override { return run_->training().seed; }
  int64_t shards() const override { return run_->training().shards; }
  bool reads_test() const override { return run_->training().test; }
  std::string data_hash() const override { return run_->hash(); }
  Fields fields() override { return run_->fields(); }
  Json describe_data() const override { return run_->describe(); }

  void announce() const override {
    const data::LabelledSamples& set = run_->set();
    log_notes(set);
    const std::string protocol =
        run_->protocol().empty() ? "" : fmt::format("protocol {}: ", run_->protocol());
    spdlog::info("{}: {}, {} classes ({}); {}{} train, {} validation, {}; model {}", set.source,
                 run_->samples_text(), set.classes.size(), listed_names(set.classes), protocol,
                 set.train.size(), set.validation.size(), test_count(reads_test(), set.test.size()),
                 run_->model_name());
  }

  analysis::ModelCost cost() const override { return run_->cost(); }
  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return train_classifier(*run_, folder, resume, accept_changes);
  }
  bool wants_report() const override { return run_->wants_report(); }
  void write_report(const train::RunFolder& folder) override {
    OpenedRun opened = open_run(std::move(run_), folder.path());
    write_classification_report(opened, folder.file("report.html"));
    run_ = std::move(opened.run);
  }
  std::string summary(const Json& metrics) const override {
    return evaluation_text(metrics[evaluated_part(metrics)], run_->set().many, false);
  }

 private:
  std::unique_ptr<ClassificationRun> run_;
};

OpenedRun open_with(std::unique_ptr<ClassificationRun> run, const std::string& path,
                    const std::string& data) {
  OpenedRun opened = open_run(std::move(run), path);
  opened.run->load_samples_of(data, true);
  log_notes(opened.run->set());
  return opened;
}

/// Bar charts of AUC and accuracy, then learning curves.
void draw_classifiers(report::HtmlPage& page, std::span<const RunGroup> groups) {
  std::vector<report::CaptionedFigure> figures = {
      {group_bars("AUC %", groups, "/test/auc", 100), ""},
      {group_bars("Accuracy %", groups, "/test/accuracy", 100), ""}};
  page.add_figure_grid(figures);
  figures.clear();
  for (const RunGroup& group : groups) {
    const auto lines = train::RunFolder::open(group.runs.front().path).read_metric_lines();
    if (lines.size() < 2) continue;
    const char* evaluated = lines.front().contains("val_auc") ? "val_auc" : "val_accuracy";
    figures.push_back({curve_figure(lines, {evaluated, "train_loss"}, group.name), ""});
  }
  if (!figures.empty()) page.add_figure_grid(figures);
}

}  // namespace

std::unique_ptr<Training> make_classification_training(std::unique_ptr<ClassificationRun> run) {
  return std::make_unique<ClassificationTraining>(std::move(run));
}

Result evaluate_classification(std::unique_ptr<ClassificationRun> run, const EvaluateRequest& request) {
  const OpenedRun opened = open_with(std::move(run), request.run, request.data);
  Json evaluation = evaluate_split(opened, request.split, request.data.empty());
  std::string text = evaluation_text(evaluation, opened.run->set().many, request.detail);
  return {std::move(evaluation), std::move(text)};
}

Result predict_classification(std::unique_ptr<ClassificationRun> run, const PredictRequest& request) {
  refuse_steps(request, "a classifier");
  wants_npz(request.out);  // checks the extension before computing anything
  require_new(request.out, request.force);
  const OpenedRun opened = open_with(std::move(run), request.run, request.data);
  const data::LabelledSamples& set = opened.run->set();
  const std::string split = opened.run->asked_split(request.data);
  ClassPredictions given = {
      set.csv_column, set.json_key, set.source, {}, set.classes, score_split(*opened.run, split, false)};
  for (const int64_t i : set.split(split)) given.names.push_back(set.names[static_cast<size_t>(i)]);
  return give_predictions(request, given);
}

void report_classification(std::unique_ptr<ClassificationRun> run, const std::string& path,
                           const std::string& data, const fs::path& out) {
  const OpenedRun opened = open_run(std::move(run), path);
  opened.run->load_samples_of(data, !data.empty() || !test_is_unread(opened.folder));
  write_classification_report(opened, out);
}

Explanation explain_classification(std::unique_ptr<ClassificationRun> run, const ExplainRequest& request) {
  return explain_classification(open_with(std::move(run), request.run, request.data), request.options);
}

std::vector<std::string> classification_ensemble(const std::string& select) {
  return {"model.name=ensemble", "model.ensemble.runs={runs}", "model.ensemble.splits={splits}", select};
}

AnyConfig config_of(std::shared_ptr<ClassificationRun> run) {
  return {run, run->fields()};
}

FinishedRun read_classification(ClassificationRun& run, const fs::path& path) {
  FinishedRun finished = finished_run(path, run.task());
  run.read_config(train::RunFolder::open(path));
  finished.model = run.model_name();
  finished.task = run.data_name();
  finished.settings = settings_of(run.fields(), {std::string(run.task()) + ".evaluation_batch"});
  finished.seed = run.training().seed;
  return finished;
}

Comparison classification_comparison(const ClassificationRun& run) {
  using Best = report::Column::Best;
  return {nullptr,
          {{{"AUC %", Best::highest}, "/test/auc", 1, 100},
           {{"accuracy %", Best::highest}, "/test/accuracy", 1, 100},
           {{"balanced %"}, "/test/balanced_accuracy", 1, 100},
           {{"log loss", Best::lowest}, "/test/loss", 3},
           {{"validation AUC %"}, "/validation/auc", 1, 100},
           {{"validation accuracy %"}, "/validation/accuracy", 1, 100}},
          {{"auc", "/test/auc"},
           {"accuracy", "/test/accuracy"},
           {"balanced_accuracy", "/test/balanced_accuracy"},
           {"loss", "/test/loss"},
           {"validation_auc", "/validation/auc"},
           {"validation_accuracy", "/validation/accuracy"},
           {"validation_loss", "/validation/loss"}},
          fmt::format("Comparison of classifiers of {}", run.subject()),
          "Test " + run.set().many,
          draw_classifiers};
}

}  // namespace modewise::tasks
