#pragma once
// Runs the trainings of a sweep as child processes, several at once, and keeps what is done, so that a sweep
// that was stopped or killed goes on where it was.
//
// Folder: runs/NAME (a run folder each), logs/NAME.log (what the child printed), done/NAME.json (written when
// the child ended well: its settings, seconds).

#include <filesystem>
#include <string>
#include <vector>

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

struct SweepOptions {
  std::filesystem::path out;
  int64_t jobs = 1;       // processes at once
  int64_t threads = 1;    // of each
  double time_limit = 0;  // seconds that one process may take; 0 for no limit
  std::string program;    // what to start; this program when empty
};

struct SweepOutcome {
  std::vector<RunOutcome> runs;  // one for each of the plan's
  int signal = 0;                // that stopped the sweep, or 0
};

/// Runs what is not finished. core/stop_signal is passed on to the children, which save and end before this
/// returns. A run that fails is reported and does not end the others. Errors: config when a run in `out` was
/// made with other settings than the plan's; cannot_create, io.
SweepOutcome run_sweep(const SweepPlan& plan, const SweepOptions& options);

/// What is finished in `out`, without starting anything; the errors of run_sweep.
SweepOutcome look_at_sweep(const SweepPlan& plan, const SweepOptions& options);

/// The last line that the child printed, for reports of failures.
std::string last_line(const std::filesystem::path& log);

}  // namespace modewise::sweep
