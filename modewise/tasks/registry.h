#pragma once
// Task registry: all tasks, and lookup by name, run or file.

#include <filesystem>
#include <string>
#include <vector>

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

const std::vector<const TaskSpec*>& task_specs();
std::vector<std::string> task_commands();

/// The task by its name, its command or a name of earlier versions; usage error for unknown names.
const TaskSpec& task_named(const std::string& name);
/// The task of a run, or of a model file that a task opens. no_input if it is not a run; data error for an
/// unknown task.
const TaskSpec& task_of_run(const std::string& path);
/// The common task of several runs; usage error if they differ.
const TaskSpec& task_of_runs(const std::vector<std::string>& paths);
/// Usage error if several train::workers() run a command (`verb`) that needs a single process for this task.
void require_shares(const TaskSpec& kind, const char* verb);
/// The task whose data `path` looks like (forecasting if none claims it). If that task lacks a setting of the
/// data among those given ("data.masks", or its option "--masks"), the only task that has it. no_input for
/// the folder of a run or of a pretrained model.
const TaskSpec& task_of_data(const std::filesystem::path& path, const std::vector<std::string>& given = {});

}  // namespace modewise::tasks
