#pragma once
// A training as all tasks share it: the folder of the run, resuming, the log, stop signals, the report.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/analysis/cost.h"
#include "modewise/core/fields.h"
#include "modewise/tasks/result.h"
#include "modewise/tasks/trained_run.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

/// What a task brings to a training. The calls come in the order in which they stand here.
class Job {
 public:
  virtual ~Job() = default;

  /// Defaults < `file` ("" for none) < `assignments`; usage error when no data is named.
  virtual void load_config(const std::string& file, const std::vector<std::string>& assignments) = 0;
  /// Loads the data and checks that the model fits it.
  virtual void load_data() = 0;
  /// "ETTh1-hot", from the data's name and the model's.
  virtual std::string run_stem() const = 0;
  virtual int64_t seed() const = 0;
  /// Parts that each batch is cut into (train.shards).
  virtual int64_t shards() const = 0;
  /// Whether the test part is read.
  virtual bool reads_test() const = 0;
  virtual std::string data_hash() const { return describe_data().at("hash"); }
  /// Those of the config, which live as long as the job does.
  virtual Fields fields() = 0;
  std::string config_toml() { return fields().to_toml(); }
  /// data.json of a new folder.
  virtual nlohmann::ordered_json describe_data() const = 0;
  /// Logs what data and which model it is.
  virtual void announce() const = 0;
  /// What the model costs, by formula.
  virtual analysis::ModelCost cost() const = 0;
  /// Trains and evaluates; without metrics when a signal stopped it.
  virtual TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) = 0;
  virtual bool wants_report() const = 0;
  /// Writes report.html.
  virtual void write_report(const train::RunFolder& folder) = 0;
  /// The result for the terminal.
  virtual std::string summary(const nlohmann::ordered_json& metrics) const = 0;
};

/// `data` and `model` joined, with only letters, digits, '.', '_' and '-' left.
std::string run_stem_of(const std::string& data, const std::string& model);

/// "298 test", or what train.test = false makes of it.
std::string test_count(bool read, size_t count);

/// A job's part that follows from its config alone.
template <class Config>
class ConfiguredJob : public Job {
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

/// Where a run goes, and whether it goes on with an earlier one.
struct JobRequest {
  std::string config;                    // TOML file; "" for none
  std::vector<std::string> assignments;  // "a.b=c"
  std::string out, resume;               // run folders; out "": runs/DATA-MODEL
  bool exist_ok = false;                 // start anew in a folder that holds a run
  bool accept_changes = false;           // with resume: changed settings
  std::string inputs;                    // a folder in `out` that holds data written for the run; "" for none
  std::vector<std::string> command_line;  // for the manifest
};

struct TaskSpec;

/// Trains a run of `kind`: its metrics with "run", the folder. Throws Stopped when a signal stopped it. Of
/// several train::workers() the lead does all that is not training, and the others return nothing. A process
/// group that was started again (TORCHELASTIC_RESTART_COUNT) goes on with the run in `out`.
Result run_job(const TaskSpec& kind, const JobRequest& request);

}  // namespace modewise::tasks
