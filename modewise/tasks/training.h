#pragma once
// Training runs of all tasks: run folder, resuming, log, stop signals, report.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/analysis/cost.h"
#include "modewise/core/fields.h"
#include "modewise/tasks/result.h"
#include "modewise/tasks/trained_run.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

/// Interface of a task for training. The methods are called in this order.
class Training {
 public:
  virtual ~Training() = default;

  /// Defaults < `file` ("" for none) < `assignments`; usage error if no data is set.
  virtual void load_config(const std::string& file, const std::vector<std::string>& assignments) = 0;
  /// Loads the data and checks the model against it.
  virtual void load_data() = 0;
  /// "ETTh1-hot", from the names of data and model.
  virtual std::string run_stem() const = 0;
  virtual int64_t seed() const = 0;
  /// Number of shards of each batch (train.shards).
  virtual int64_t shards() const = 0;
  /// Whether the test split is read.
  virtual bool reads_test() const = 0;
  virtual std::string data_hash() const { return describe_data().at("hash"); }
  /// Fields of the config, valid as long as the job.
  virtual Fields fields() = 0;
  std::string config_toml() { return fields().to_toml(); }
  /// data.json of a new folder.
  virtual nlohmann::ordered_json describe_data() const = 0;
  /// Logs data and model.
  virtual void announce() const = 0;
  /// Analytic cost of the model.
  virtual analysis::ModelCost cost() const = 0;
  /// Trains and evaluates; no metrics if a signal stopped it.
  virtual TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) = 0;
  virtual bool wants_report() const = 0;
  /// Writes report.html.
  virtual void write_report(const train::RunFolder& folder) = 0;
  /// Text of the result for the terminal.
  virtual std::string summary(const nlohmann::ordered_json& metrics) const = 0;
};

/// "DATA-MODEL"; characters other than letters, digits, '.', '_' and '-' become '-'.
std::string run_stem_of(const std::string& data, const std::string& model);

/// "298 test", or "test unread" with train.test = false.
std::string test_count(bool read, size_t count);

/// Methods of a job that follow from its config.
template <class Config>
class ConfiguredTraining : public Training {
 public:
  std::string run_stem() const override { return run_stem_of(data_title(config_), model_title(config_)); }
  int64_t seed() const override { return config_.train.seed; }
  int64_t shards() const override { return config_.train.shards; }
  bool reads_test() const override { return config_.train.test; }
  Fields fields() override { return fields_of(config_); }
  bool wants_report() const override { return config_.output.report; }

 protected:
  Config config_;
};

/// Request of a training: a new run or one to resume.
struct TrainRequest {
  std::string config;                     // TOML file; "" for none
  std::vector<std::string> assignments;   // "a.b=c"
  std::string out, resume;                // run folders; out "": runs/DATA-MODEL
  bool exist_ok = false;                  // overwrite an existing run
  bool accept_changes = false;            // with resume: allow changed settings
  std::string inputs;                     // folder in `out` with data written for the run; "": none
  std::vector<std::string> command_line;  // for the manifest
};

struct TaskSpec;

/// Trains a run of `kind` and returns its metrics with "run", the folder. Throws Stopped if a signal stopped
/// it. With several train::workers() only rank 0 writes and returns a result. A restarted process group
/// (TORCHELASTIC_RESTART_COUNT) resumes the run in `out`.
Result run_training(const TaskSpec& kind, const TrainRequest& request);

}  // namespace modewise::tasks
