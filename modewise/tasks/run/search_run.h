#pragma once
// Model search of a task (`train TASK --model auto`): its best run becomes the run folder.

#include <optional>
#include <string>
#include <vector>

#include "modewise/tasks/run/result.h"
#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

struct ModelSearchRequest {
  std::string config, data, out;         // as for a training; out "": runs/DATA-auto
  std::vector<std::string> assignments;  // "a.b=c", for every candidate
  double budget = 300;                   // seconds
  int64_t seed = 0;
  int64_t jobs = 0, threads = 0;  // trainings at once, and threads of each; 0: by the number of cores
  bool exist_ok = false;          // overwrite an existing run
  bool no_test = false;           // leave the test split unread
  bool refit = false;             // finally retrain the choice with all samples
  std::string program;            // executable of the trainings; "": this program
};

/// Searches the candidates of `task`; the best becomes the run in `out`, evaluated and reported. Returns
/// "run", the folder, the chosen candidate, the leaderboard and the test metrics. Throws Stopped if a signal
/// stopped it. Usage error for a task without candidates, or without a refit.
Result run_search(const TaskSpec& task, const ModelSearchRequest& request);

/// Resumes the search in `run`; nullopt if there is none that has not ended. Usage error for a search of
/// another task.
std::optional<Result> resume_search(const TaskSpec& task, const std::string& run,
                                    const std::string& program = "");

/// The task of the run or search to resume in `run`; errors as task_of_run.
const TaskSpec& task_to_resume(const std::string& run);

}  // namespace modewise::tasks
