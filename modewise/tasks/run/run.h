#pragma once
// A run: the config, samples and model of one training. Each task derives a class; the files of this folder
// do what all runs have in common: training (train_run.h), opening (open_run.h), evaluate, predict, explain
// and report (commands.h), comparison (comparison.h).
//
// A new run: load, make_model, task, finish. A run folder: restore, make_model, then load where samples are
// needed.

#include <torch/nn/module.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/fields.h"
#include "modewise/nn/layers/cost.h"
#include "modewise/tasks/run/result_tables.h"
#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/distributed/workers.h"
#include "modewise/train/loop/module_task.h"
#include "modewise/train/loop/timing.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

/// Samples that a run loads.
struct DataRequest {
  bool training = false;  // of a new or resumed run: open settings and model sizes follow from them
  bool with_test = true;  // false: the test split stays unread
  std::string path = {}, masks = {};  // other samples than the run's own, and their masks; "": its own
  bool moved = false;                 // `path` is the current location of the run's own samples
  bool unchanged = false;             // its own samples must be those of its training
  std::string split = "test";         // the split that will be used; "all": every sample

  bool own() const { return path.empty() || moved; }
};

/// Use of a model: resume gets its weights from a checkpoint, open those of a run folder.
enum class Purpose { train, resume, open };

/// Settings that every run has.
struct RunSettings {
  Fields fields;  // of the config; valid as long as the run
  const train::TrainConfig& train;
  std::string data, model;    // titles of data and model
  bool report = true;         // report.html after training
  std::string rankless = {};  // task name of runs that record no stable ranks (rank_tracking.h); "": they do
};

/// RunSettings of a config with the usual groups.
template <class Config>
RunSettings settings_of(Config& config) {
  return {fields_of(config), config.train, data_title(config), model_title(config), config.output.report};
}

class Run {
 public:
  virtual ~Run() = default;

  /// The folder of a run that has one: all but new runs before their training.
  const train::RunFolder& folder() const { return *folder_; }
  bool has_folder() const { return folder_.has_value(); }
  void set_folder(train::RunFolder folder) { folder_ = std::move(folder); }

  virtual RunSettings settings() = 0;

  /// Loads samples. Errors: usage if no data is set, data if they do not fit each other or the opened model.
  virtual void load(const DataRequest& request) = 0;
  /// Hash of the loaded samples.
  virtual std::string hash() const = 0;
  /// data.json of the loaded training samples; and its reader, for an opened run: data errors name `file`.
  virtual nlohmann::ordered_json describe() const = 0;
  virtual void restore(const nlohmann::ordered_json& data, const std::string& file) = 0;
  /// Logs the training samples and the model.
  virtual void announce() = 0;

  /// Makes the model, with weights that depend only on config, seed and training samples.
  virtual void make_model(Purpose purpose) = 0;
  virtual torch::nn::Module& module() const = 0;
  virtual nn::ModelCost cost() const = 0;
  /// The training task of the model, valid as long as the run.
  virtual std::unique_ptr<train::ModuleTask> task() = 0;
  /// Writes files that the run needs later, such as its tokenizer, to its folder; before training.
  virtual void keep() const {}

  /// Metrics of a split of the loaded samples, with "split"; `keep`: also writes the files of this evaluation
  /// to the run's folder. With several `workers` rank 0 has the result, other ranks null. Data error for an
  /// empty split.
  virtual nlohmann::ordered_json evaluate(const std::string& split, bool keep, train::Workers& workers) = 0;
  /// After training: adds the results to metrics.json, and writes further files. Here: "test_read",
  /// "validation" and, if it is read, "test".
  virtual void finish(nlohmann::ordered_json& metrics);
  /// Time of the test split in `finish`; count 0 without one.
  const train::Elapsed& test_time() const { return test_time_; }
  /// Tables of the evaluations in `metrics`: metrics.json, or {split: evaluation}.
  virtual std::vector<ResultTable> tables(const nlohmann::ordered_json& metrics) const = 0;
  /// The report of a finished run, without its settings.
  virtual report::HtmlPage page(const nlohmann::ordered_json& metrics) = 0;

 protected:
  /// The result of `score`, which evaluates the test split.
  template <class Score>
  nlohmann::ordered_json timed_test(Score&& score) {
    nlohmann::ordered_json result;
    train::Timing::measure(test_time_, [&] { result = score(); });
    return result;
  }

 private:
  std::optional<train::RunFolder> folder_;
  train::Elapsed test_time_;
};

/// The run as a task's own class; usage error for another class of the task, such as a panel among forecasts.
template <class TaskRun>
TaskRun& as(Run& run) {
  auto* const typed = dynamic_cast<TaskRun*>(&run);
  require(typed != nullptr, ErrorKind::usage,
          "this command does not support runs on panels: train with data.panel = no, as one tensor");
  return *typed;
}

/// The name of a data file or folder, also of "." and "x/", without its extension; "" for "".
std::string data_name(const std::string& path);

/// "DATA-MODEL"; characters of ASCII other than letters, digits, '.', '_' and '-', and unsafe ones become
/// '-'.
std::string run_stem_of(const std::string& data, const std::string& model);

/// "298 test", or "test unread" with train.test = false.
std::string test_count(bool read, size_t count);

}  // namespace modewise::tasks
