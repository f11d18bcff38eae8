#pragma once
// A run whose texts have no classes: what it learns is a number of each, or its hidden tokens. What the
// commands do for such runs is the same for both.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/analysis/cost.h"
#include "modewise/models/attention_view.h"
#include "modewise/tasks/task_spec.h"
#include "modewise/tasks/result_tables.h"
#include "modewise/tasks/run_report.h"
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

  /// The data of the config, or of `path`. Without `with_test` the test part stays unread.
  virtual void load_data(const std::string& path, bool with_test) = 0;
  virtual std::string hash() const = 0;
  /// Of data.json, besides the tokenizer.
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

  /// {"split", "samples", figures}; data error for an empty part.
  virtual nlohmann::ordered_json evaluate(const std::string& split) const = 0;
  virtual std::vector<JsonColumn> columns() const = 0;
  virtual std::vector<LearningChart> charts() const = 0;
  /// Sections of the report of its own.
  virtual void add_sections(report::HtmlPage& page, const std::string& split) const = 0;
  virtual Result predict(const PredictRequest& request) = 0;

  /// Texts of a part within their marks, evenly spread, and how they are called.
  virtual std::vector<std::pair<std::string, text::FramedText>> shown_texts(const std::string& split,
                                                                            int64_t count) const = 0;
  virtual models::AttentionView attention(const models::TextInput& input) const = 0;
};

/// By config.text.objective: regression or masked.
std::unique_ptr<ObjectiveRun> make_objective_run(TextTaskConfig config);

struct OpenedObjective {
  train::RunFolder folder;
  std::unique_ptr<ObjectiveRun> run;
};
/// A run with its best weights, without data. Errors as open_run.
OpenedObjective open_objective(const std::filesystem::path& path);

std::unique_ptr<Training> make_objective_training();
Result evaluate_objective(const EvaluateRequest& request);
Result predict_objective(const PredictRequest& request);
void report_objective(const std::string& path, const std::string& data, const std::filesystem::path& out);

}  // namespace modewise::tasks
