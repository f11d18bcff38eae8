#pragma once
// Text runs without classes: regression and masked language modelling, with shared commands.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/analysis/cost.h"
#include "modewise/models/attention_view.h"
#include "modewise/tasks/result_tables.h"
#include "modewise/tasks/run_report.h"
#include "modewise/tasks/task_spec.h"
#include "modewise/tasks/text/config.h"
#include "modewise/tasks/text/reading.h"
#include "modewise/tasks/trained_run.h"
#include "modewise/train/loop/module_task.h"

namespace modewise::tasks {

class ObjectiveRun {
 public:
  explicit ObjectiveRun(TextTaskConfig settings) : config(std::move(settings)) {}
  virtual ~ObjectiveRun() = default;

  TextTaskConfig config;
  TextReading reading;

  /// Loads the data of the config, or of `path`. Without `with_test` the test split stays unread.
  virtual void load_data(const std::string& path, bool with_test) = 0;
  virtual std::string hash() const = 0;
  /// Contents of data.json besides the tokenizer.
  virtual nlohmann::ordered_json describe() const = 0;
  virtual void read_description(const nlohmann::ordered_json& /*json*/) {}
  virtual std::vector<std::string> notes() const = 0;
  /// "5749 training pairs of texts, 1500 validation, 1379 test".
  virtual std::string data_text(bool with_test) const = 0;
  virtual analysis::ModelCost cost() const = 0;

  /// `started`: with the weights of model.from.
  virtual void make_model(bool started) = 0;
  virtual torch::nn::Module& module() const = 0;
  virtual void save(const std::filesystem::path& folder) const = 0;
  virtual std::unique_ptr<train::ModuleTask> make_task() = 0;

  /// {"split", "samples", metrics}; data error for an empty split.
  virtual nlohmann::ordered_json evaluate(const std::string& split) const = 0;
  virtual std::vector<JsonColumn> columns() const = 0;
  virtual std::vector<LearningChart> charts() const = 0;
  /// Adds sections to the report.
  virtual void add_sections(report::HtmlPage& page, const std::string& split) const = 0;
  virtual Result predict(const PredictRequest& request) = 0;

  /// Evenly spaced texts of a split with special tokens, and their names.
  virtual std::vector<std::pair<std::string, text::FramedText>> shown_texts(const std::string& split,
                                                                            int64_t count) const = 0;
  virtual models::AttentionView attention(const models::TextInput& input) const = 0;
};

/// Creates the run of config.text.objective: regression or masked_lm.
std::unique_ptr<ObjectiveRun> make_objective_run(TextTaskConfig config);

struct OpenedObjective {
  train::RunFolder folder;
  std::unique_ptr<ObjectiveRun> run;
};
/// Opens a run with its best weights, without data. Errors as open_run.
OpenedObjective open_objective(const std::filesystem::path& path);

std::unique_ptr<Training> make_objective_training();
Result evaluate_objective(const EvaluateRequest& request);
Result predict_objective(const PredictRequest& request);
void report_objective(const std::string& path, const std::string& data, const std::filesystem::path& out);

}  // namespace modewise::tasks
