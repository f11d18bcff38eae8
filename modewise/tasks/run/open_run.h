#pragma once
// Opening of run folders.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "modewise/core/error.h"
#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

/// Opens a run of `task` with its best weights, in evaluation mode, without samples. Logs a warning if its
/// training has not finished. Errors: no_input if it
/// is not a run or has no checkpoint; usage if it is of another task; data if its files are damaged.
std::unique_ptr<Run> open_run(const TaskSpec& task, const std::filesystem::path& path);

/// The same, as the task's own class.
template <class TaskRun>
std::unique_ptr<TaskRun> open_run_as(const TaskSpec& task, const std::filesystem::path& path) {
  std::unique_ptr<Run> run = open_run(task, path);
  TaskRun& typed = as<TaskRun>(*run);
  static_cast<void>(run.release());
  return std::unique_ptr<TaskRun>(&typed);
}

/// The run with the settings of a run folder, without its model. Config errors name the file.
std::unique_ptr<Run> read_run_settings(const TaskSpec& task, const train::RunFolder& folder);

/// data.json of a run; data error if it is not an object.
nlohmann::ordered_json read_run_data(const train::RunFolder& folder);

}  // namespace modewise::tasks
