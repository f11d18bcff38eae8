#pragma once
// `train` in the steps that all tasks share: the folder of the run, resuming, the log, stop signals, the
// report.

#include <CLI/App.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/config_options.h"
#include "cli/program.h"
#include "modewise/analysis/cost.h"
#include "modewise/tasks/trained_run.h"
#include "modewise/train/run_folder.h"

namespace modewise::cli {

/// Where a run goes, and whether it goes on with an earlier one.
struct RunOptions {
  std::string out, resume;
  std::vector<std::string> track;
  bool exist_ok = false, override_config = false, no_test = false;

  void add_to(CLI::App& command);
};

/// `data` and `model` joined, with only letters, digits, '.', '_' and '-' left.
std::string run_stem_of(const std::string& data, const std::string& model);

/// "298 test", or what --no-test makes of it.
std::string test_count(bool read, size_t count);

/// What a task brings to its `train` command. The calls come in the order in which they stand here.
class TrainingJob {
 public:
  virtual ~TrainingJob() = default;

  /// The manifest's name of the task.
  virtual std::string task() const = 0;
  /// Defaults < `file` ("" for none) < `assignments`; usage error when no data is named.
  virtual void load_config(const std::string& file, const std::vector<std::string>& assignments) = 0;
  /// Loads the data and checks that the model fits it.
  virtual void load_data() = 0;
  /// "ETTh1-hot", from the data's name and the model's.
  virtual std::string run_stem() const = 0;
  virtual int64_t seed() const = 0;
  /// Whether the test part is read.
  virtual bool reads_test() const = 0;
  virtual std::string data_hash() const = 0;
  virtual std::string config_toml() = 0;
  /// data.json of a new folder.
  virtual nlohmann::ordered_json describe_data() const = 0;
  /// Logs what data and which model it is.
  virtual void announce() const = 0;
  /// What the model costs, by formula.
  virtual analysis::ModelCost cost() const = 0;
  /// Trains and evaluates; without metrics when a signal stopped it.
  virtual tasks::TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) = 0;
  virtual bool wants_report() const = 0;
  /// Writes report.html.
  virtual void write_report(const train::RunFolder& folder) = 0;
  /// The result for the terminal.
  virtual std::string summary(const nlohmann::ordered_json& metrics) const = 0;
};

/// A job's part that follows from its config alone.
template <class Config>
class ConfiguredJob : public TrainingJob {
 public:
  std::string run_stem() const override { return run_stem_of(data_title(config_), model_title(config_)); }
  int64_t seed() const override { return config_.train.seed; }
  bool reads_test() const override { return config_.train.test; }
  std::string config_toml() override { return fields_of(config_).to_toml(); }
  bool wants_report() const override { return config_.output.report; }

 protected:
  Config config_;
};

/// "cost: 61,234 parameters; a sample makes 7 × 7 × 7 = 343 tokens and takes 21.3 million multiply-adds
/// forward".
std::string cost_text(const analysis::ModelCost& model);

/// Runs the job; the exit code. Throws Stopped when a signal stopped it.
int run_training(const Program& program, const ConfigOptions& config, const RunOptions& options,
                 TrainingJob& job);

/// Adds `train NAME`. Config is the task's ConfigOptions with add_to.
template <class Config, class Job>
void add_training(Program& program, CLI::App& parent, const std::string& name, const std::string& summary,
                  const std::string& example, std::function<std::string()> help_text) {
  struct Options {
    Config config;
    RunOptions run;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = program.add_command(parent, name, summary, example, [&program, options] {
    Job job;
    return run_training(program, options->config, options->run, job);
  });
  options->config.add_to(*command);
  options->run.add_to(*command);
  program.add_help_text(command, std::move(help_text));
}

}  // namespace modewise::cli
