#include "modewise/tasks/text/objective_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/tasks/open_run.h"
#include "modewise/tasks/rank_tracking.h"
#include "modewise/tasks/run_tokenizer.h"
#include "modewise/tasks/test_split.h"
#include "modewise/tasks/text/masked.h"
#include "modewise/tasks/text/regression.h"
#include "modewise/train/checkpoint/checkpoint.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::vector<ResultTable> objective_tables(const ObjectiveRun& run, const Json& parts) {
  return {{"Evaluation", "", json_table(run.columns(), parts)}};
}

void write_objective_report(const OpenedObjective& opened, const fs::path& out) {
  const at::NoGradGuard no_grad;
  const ObjectiveRun& run = *opened.run;
  const Json metrics = evaluated_metrics(opened.folder);
  const bool masked = run.config.is("masked_lm");
  report::HtmlPage page = open_page(opened.folder,
                                    {data_title(run.config),
                                     masked ? "Masked language model" : "Text regression",
                                     {{"data", run.data_text(run.config.train.test)}},
                                     {{"tokenizer", run.reading.tokenizer->name()}}},
                                    model_title(run.config), run.module(), run.config.train.seed);
  add_tables(page, objective_tables(run, evaluated_parts(metrics)));
  page.add_paragraph(
      "The weights are those of the best validation metric; the test texts are not used for selection.");
  run.add_sections(page, evaluated_part(metrics));
  add_learning(page, opened.folder, run.charts());
  write_page(page, opened.folder, out);
}

class ObjectiveTraining final : public Training {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    run_ = make_objective_run(load_text_config(file, assignments));
    file_ = file;
    refuse_rank_tracking(run_->config.train, fmt::format("text, objective {}", run_->config.text.objective),
                         file);
    require(!run_->config.data.path.empty(), ErrorKind::usage, "no texts: give --data FILE or FOLDER{}",
            run_->config.is("masked_lm") ? " of texts" : "");
  }
  void load_data() override {
    run_->reading = reading_of(run_->config, file_);
    run_->load_data("", reads_test());
    if (run_->config.text.select == "auto")
      run_->config.text.select = run_->config.is("masked_lm") ? "loss" : "pearson";
  }
  std::string run_stem() const override {
    return run_stem_of(data_title(run_->config), model_title(run_->config));
  }
  int64_t seed() const override { return run_->config.train.seed; }
  int64_t shards() const override { return run_->config.train.shards; }
  bool reads_test() const override { return run_->config.train.test; }
  std::string data_hash() const override { return run_->hash(); }
  Fields fields() override { return fields_of(run_->config); }
  Json describe_data() const override {
    Json json = run_->describe();
    json["tokenizer"] = {{"name", run_->reading.tokenizer->name()},
                         {"hash", run_->reading.tokenizer->hash()}};
    return json;
  }
  void announce() const override {
    for (const std::string& note : run_->notes()) spdlog::info("{}", note);
    spdlog::info("{}: {}; {}; model {}", run_->config.data.path, run_->data_text(reads_test()),
                 run_->reading.tokenizer->name(), model_title(run_->config));
  }
  analysis::ModelCost cost() const override { return run_->cost(); }
  bool wants_report() const override { return run_->config.output.report; }

  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    keep_run_tokenizer(folder, *run_->reading.tokenizer);
    run_->make_model(!resume || train::CheckpointStore(folder.checkpoints()).empty());
    const std::unique_ptr<train::ModuleTask> task = run_->make_task();
    TrainedRun result;
    result.training = train::train(*task, run_->config.train, folder, resume, accept_changes);
    if (!result.training.to_be_evaluated()) return result;
    result.metrics = folder.read_metrics();
    result.metrics["test_read"] = reads_test();
    result.metrics["validation"] = evaluate("validation");
    if (reads_test()) result.metrics["test"] = evaluate("test");
    if (run_->config.output.export_model) {
      fs::remove_all(folder.file("model"));  // left by an interrupted evaluation
      run_->save(folder.file("model"));
    }
    folder.write_metrics(result.metrics);
    return result;
  }
  void write_report(const train::RunFolder& folder) override {
    OpenedObjective opened = open_objective(folder.path());
    opened.run->load_data("", reads_test());
    write_objective_report(opened, folder.file("report.html"));
  }
  std::string summary(const Json& metrics) const override {
    return tables_text(objective_tables(*run_, Json::array({metrics[evaluated_part(metrics)]})));
  }

 private:
  Json evaluate(const std::string& split) const {
    const nn::EvaluationMode evaluation(run_->module());
    return run_->evaluate(split);
  }

  std::unique_ptr<ObjectiveRun> run_;
  std::string file_;
};

}  // namespace

std::unique_ptr<ObjectiveRun> make_objective_run(TextTaskConfig config) {
  if (config.is("masked_lm")) return std::make_unique<MaskedRun>(std::move(config));
  return std::make_unique<RegressionRun>(std::move(config));
}

OpenedObjective open_objective(const fs::path& path) {
  train::RunFolder folder = train::RunFolder::open(path);
  folder.require_task("text");
  auto run = make_objective_run(read_run_config<TextTaskConfig>(folder));
  run->reading = run_reading(run->config, folder);
  read_run_data(folder, [&](const Json& json, const std::string&) { run->read_description(json); });
  run->make_model(false);
  train::load_weights(run->module(), folder);
  run->module().eval();
  return {std::move(folder), std::move(run)};
}

std::unique_ptr<Training> make_objective_training() {
  return std::make_unique<ObjectiveTraining>();
}

Result evaluate_objective(const EvaluateRequest& request) {
  const OpenedObjective opened = open_objective(request.run);
  const bool own = request.data.empty();
  opened.run->load_data(request.data, !own || request.split == "test" || request.split == "all");
  Json figures = opened.run->evaluate(own                                  ? request.split
                                      : opened.run->config.is("masked_lm") ? "all"
                                                                           : "test");
  if (own && request.split == "test" && test_is_unread(opened.folder))
    write_test_figures(opened.folder, {{"test", figures}}, opened.run->hash());
  std::string text = tables_text(objective_tables(*opened.run, Json::array({figures})));
  return {std::move(figures), std::move(text)};
}

Result predict_objective(const PredictRequest& request) {
  refuse_steps(request, "a text encoder");
  require_new(request.out, request.force);
  const OpenedObjective opened = open_objective(request.run);
  return opened.run->predict(request);
}

void report_objective(const std::string& path, const std::string& data, const fs::path& out) {
  const OpenedObjective opened = open_objective(path);
  opened.run->load_data(data, !data.empty() || !test_is_unread(opened.folder));
  write_objective_report(opened, out);
}

}  // namespace modewise::tasks
