#pragma once
// Shared parts of the commands that train the runs of a sweep: options of the launcher, start of the runs.

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/program.h"
#include "modewise/sweep/sweep_runner.h"

namespace modewise::cli {

struct LaunchOptions {
  std::string out, launcher = "local";
  std::vector<std::string> only, sbatch;
  int64_t jobs = 0, lease = 60;
  bool dry_run = false, table_only = false;

  void add_to(CLI::App& command, const std::string& default_out, const std::string& only_help);
  /// The folder, and jobs and threads of the runs.
  sweep::SweepOptions of(const Program& program, const std::string& default_out) const;
};

/// The tasks of this program.
std::vector<sweep::SweepTask> sweep_tasks();

/// Whether --only, if it is given, names the run.
bool is_wanted(const sweep::SweepOptions& options, const sweep::SweepRun& run);

/// Prints the commands of the wanted runs, after a check of their settings.
void list_runs(const Program& program, const sweep::SweepPlan& plan, const sweep::SweepOptions& options);

/// Submits the remaining wanted runs to Slurm. Each array task runs this program with `arguments` on one run.
void submit_to_slurm(const Program& program, const LaunchOptions& options, const sweep::SweepPlan& plan,
                     const sweep::SweepOptions& sweep_options, const std::vector<std::string>& arguments);

/// Error if runs failed; they are retried by the same command.
void require_no_failures(const sweep::SweepOutcome& outcome);

}  // namespace modewise::cli
