#pragma once
// Training of a run: run folder, resuming, log, stop signals, results, report.

#include <string>
#include <vector>

#include "modewise/tasks/run/result.h"
#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

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

/// Trains a run of `task` and returns its metrics with "run", the folder. Throws Stopped if a signal stopped
/// it, and train::EvaluationInterrupted if one arrives after training. With several train::workers() only
/// rank 0 writes and returns a result. A restarted process group (TORCHELASTIC_RESTART_COUNT) resumes the run
/// in `out`.
Result run_training(const TaskSpec& task, const TrainRequest& request);

}  // namespace modewise::tasks
