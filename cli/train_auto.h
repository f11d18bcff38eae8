#pragma once
// `train TASK --model auto`: a search among the task's candidates, whose best run becomes the run folder.

#include <string>
#include <vector>

#include "cli/program.h"
#include "modewise/tasks/run/task_spec.h"

namespace modewise::cli {

struct AutoOptions {
  std::string config, data, out;      // as for a training
  std::vector<std::string> settings;  // "key=value", for every candidate
  std::string budget = "5m";
  int64_t seed = 0, jobs = 0;
  bool exist_ok = false, no_test = false, refit = false;
};

void train_auto(const Program& program, const tasks::TaskSpec& kind, const AutoOptions& options);
/// Resumes the search in `run`; returns false if there is none. Usage error for a search of another task.
bool resume_auto(const Program& program, const tasks::TaskSpec& kind, const std::string& run);

/// Seconds of "90", "90s", "10m", "1.5h"; usage error for anything else, including 0 and less.
double seconds_of(const std::string& text);

}  // namespace modewise::cli
