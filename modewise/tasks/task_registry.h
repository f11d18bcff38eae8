#pragma once
// All tasks, and which of them a name, a run or a file is of.

#include <filesystem>
#include <string>
#include <vector>

#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

const std::vector<const TaskSpec*>& task_specs();
std::vector<std::string> task_commands();

/// The task by its name, its command or a name of earlier versions; usage error when there is none.
const TaskSpec& task_named(const std::string& name);
/// The task of a run, or of a model that a task opens. no_input when there is no run; data error for a task
/// this program does not know.
const TaskSpec& task_of_run(const std::string& path);
/// The same for several runs, which must be of one task (usage error).
const TaskSpec& task_of_runs(const std::vector<std::string>& paths);
/// Usage error where several train::workers() are at work on a run of a task that one process is to `verb`.
void require_shares(const TaskSpec& kind, const char* verb);
/// The task whose data `path` looks like; forecast where none claims it.
const TaskSpec& task_of_data(const std::filesystem::path& path);

}  // namespace modewise::tasks
