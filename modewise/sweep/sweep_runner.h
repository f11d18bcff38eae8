#pragma once
// Runs the trainings of a sweep as child processes, several at once, and keeps what is done, so that a sweep
// that was stopped or killed goes on where it was.
//
// Folder: runs/NAME (a run folder each), logs/NAME.log (what the child printed), done/NAME.json (written when
// the child ended well: its settings, seconds), claims/NAME.json (core/claims.h): several sweeps on one
// folder, of several machines where they share it, train each run once between them.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "modewise/core/file_lock.h"
#include "modewise/sweep/sweep_plan.h"

namespace modewise::sweep {

enum class RunState { waiting, finished, failed, stopped };

struct RunOutcome {
  RunState state = RunState::waiting;
  bool earlier = false;  // finished before this start of the sweep
  int exit_code = 0;     // 128 + signal when one ended it
  double seconds = 0;    // of the last process
  std::string failure;   // why it failed, in a sentence
  std::filesystem::path folder, log;
};

struct SweepOutcome {
  std::vector<RunOutcome> runs;  // one for each of the plan's
  int signal = 0;                // that stopped the sweep, or 0
};

struct SweepOptions {
  std::filesystem::path out;
  int64_t jobs = 1;                                // processes at once
  int64_t threads = 1;                             // of each
  double time_limit = 0;                           // seconds that one process may take; 0 for no limit
  std::string program;                             // what to start; this program when empty
  std::vector<std::string> only;                   // names of runs; empty: all
  std::function<void(const SweepOutcome&)> watch;  // called some twenty times a second; may be empty
  std::chrono::milliseconds lease{60'000};         // a sweep that gave no sign of life for so long is dead
};

/// Runs what is not finished, and waits for what other sweeps are at. core/stop_signal is passed on to the
/// children, which save and end before this returns. A run that fails is reported and does not end the
/// others. Errors: config when a run in `out` was made with other settings than the plan's, or `only` names
/// none; cannot_create, io.
SweepOutcome run_sweep(const SweepPlan& plan, const SweepOptions& options);

/// What is finished in `out`, without starting anything; the errors of run_sweep.
SweepOutcome look_at_sweep(const SweepPlan& plan, const SweepOptions& options);

/// Adds to `outcome` what other sweeps have finished since.
void look_again(const SweepPlan& plan, const SweepOptions& options, SweepOutcome& outcome);

/// One sweep at a time between looking again and writing what it found.
std::unique_ptr<FileLock> lock_results(const SweepOptions& options);

/// The last line that the child printed, for reports of failures.
std::string last_line(const std::filesystem::path& log);

}  // namespace modewise::sweep
