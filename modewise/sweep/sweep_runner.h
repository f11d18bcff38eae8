#pragma once
// Sweep runner: runs the trainings as concurrent child processes and records finished runs, so that an
// interrupted sweep resumes.
//
// Folder: runs/NAME (run folders), logs/NAME.log (output of the child), done/NAME.json (written when the
// child succeeded: seconds), done/NAME.started.json (settings and identity of the data), claims/NAME.json
// (core/claims.h): several sweeps on one folder, also on several machines, train each run once.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "modewise/core/system.h"
#include "modewise/sweep/sweep_plan.h"

namespace modewise::sweep {

enum class RunState { waiting, finished, failed, stopped };

struct RunOutcome {
  RunState state = RunState::waiting;
  bool earlier = false;  // finished in an earlier start of the sweep
  int exit_code = 0;     // 128 + signal if a signal ended it
  double seconds = 0;    // of the last process
  std::string failure;   // error message
  std::filesystem::path folder, log;
};

struct SweepOutcome {
  std::vector<RunOutcome> runs;  // one per run of the plan
  int signal = 0;                // signal that interrupted the sweep, or 0
};

struct SweepOptions {
  std::filesystem::path out;
  int64_t jobs = 1;                                // concurrent processes
  int64_t threads = 1;                             // threads per process
  double time_limit = 0;                           // seconds per process; 0: no limit
  std::string program;                             // executable; empty: this program
  std::vector<std::string> only;                   // run names; empty: all
  std::function<void(const SweepOutcome&)> watch;  // called about twenty times per second; may be empty
  std::chrono::milliseconds lease{60'000};  // claim timeout: a sweep without heartbeats for so long is dead
  System* system = &local_system();
};

/// Distribution of cores: `jobs` processes at once with `threads` each.
struct Shares {
  int64_t jobs, threads;
};
/// The shares of all cores; 0: not given, as many as the other one leaves.
Shares share_cores(int64_t jobs, int64_t threads);

/// Runs the unfinished runs, and waits for those of other sweeps. A stop signal (core/stop_signal.h) is
/// forwarded to the children, which save and end before this returns. A failed run is reported and does not
/// end the others. Errors: config if a run in `out` has other settings than the plan's, if a finished one was
/// trained on other data than its files have now, or if `only` has an unknown name; cannot_create, io.
SweepOutcome run_sweep(const SweepPlan& plan, const SweepOptions& options);

/// Config error for a name that no run of the plan has.
void require_runs(const SweepPlan& plan, const std::vector<std::string>& names);

/// The finished runs in `out`, without starting any; errors as run_sweep.
SweepOutcome look_at_sweep(const SweepPlan& plan, const SweepOptions& options);

/// Adds runs to `outcome` that other sweeps have finished since.
void look_again(const SweepPlan& plan, const SweepOptions& options, SweepOutcome& outcome);

/// Removes temporaries that interrupted sweeps left in their folder; those of running ones stay.
void remove_sweep_leftovers(const std::filesystem::path& out);

/// Lock for look_again and the following write of results, held by one sweep at a time.
std::unique_ptr<System::Lock> lock_results(const SweepOptions& options);

}  // namespace modewise::sweep
