#pragma once
// Text runs without classes: regression and masked language modelling.
//
// The run folder also has tokenizer/ (a copy of its file) and model/ (the best weights in Hugging Face
// format, with the tokenizer).

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "modewise/tasks/run/result_tables.h"
#include "modewise/tasks/run/run.h"
#include "modewise/tasks/run/run_report.h"
#include "modewise/tasks/text/encoder_run.h"

namespace modewise::tasks {

/// Constants of an objective.
struct ObjectiveDescription {
  std::string title;                // of the report: "Text regression"
  std::string data;                 // the argument of --data: "FILE or FOLDER"
  std::string select;               // text.select = auto: validation metric for the selection of the weights
  std::string new_split;            // split of other texts than the run's own, for evaluate
  std::vector<JsonColumn> columns;  // of the table of evaluations
  std::vector<LearningChart> charts;  // of the report
};

class ObjectiveRun : public Run, public EncoderRun {
 public:
  explicit ObjectiveRun(TextTaskConfig given) : config(std::move(given)) {}

  virtual ObjectiveDescription about() const = 0;
  /// Loads the data of the config, or of `path`. Without `with_test` the test split stays unread.
  virtual void load_data(const std::string& path, bool with_test) = 0;
  /// data.json without the tokenizer.
  virtual nlohmann::ordered_json describe_data() const = 0;
  /// Logs the notes and warnings of the data.
  virtual void log_data_notes() const = 0;
  /// "5749 training pairs of texts, 1500 validation, 1379 test".
  virtual std::string data_text(bool with_test) const = 0;
  /// {"split", "samples", metrics}; data error for an empty split.
  virtual nlohmann::ordered_json score(const std::string& split) const = 0;
  /// Adds sections about a split to the report.
  virtual void add_sections(report::HtmlPage& page, const std::string& split) const = 0;
  /// Writes the model in Hugging Face format.
  virtual void save(const std::filesystem::path& folder) const = 0;

  const TextTaskConfig& text_config() const override { return config; }

  RunSettings settings() override {
    RunSettings settings = settings_of(config);
    settings.rankless = "text, objective " + config.text.objective;
    return settings;
  }
  void load(const DataRequest& request) override;
  nlohmann::ordered_json describe() const override;
  void restore(const nlohmann::ordered_json& data, const std::string& file) override;
  void announce() override;
  void keep() const override;
  nlohmann::ordered_json evaluate(const std::string& split, bool keep, train::Workers& workers) override;
  void finish(nlohmann::ordered_json& metrics) override;
  std::vector<ResultTable> tables(const nlohmann::ordered_json& metrics) const override;
  report::HtmlPage page(const nlohmann::ordered_json& metrics) override;

  TextTaskConfig config;
};

/// Creates the run of config.text.objective: regression or masked_lm.
std::unique_ptr<ObjectiveRun> make_objective_run(TextTaskConfig config);

}  // namespace modewise::tasks
