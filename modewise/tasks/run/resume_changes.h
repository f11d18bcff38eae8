#pragma once
// Changes of a resumed run: its settings and training data, compared with those of its folder.

#include <string>
#include <vector>

#include "modewise/tasks/run/run.h"
#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

/// Differences, each as "path was A, is B".
struct ResumeChanges {
  std::vector<std::string> settings, data;
};

/// The settings that `assignments` change and that change what is trained or reported: not output.* and not
/// where the data are, which are compared by content.
std::vector<std::string> changed_settings(const TaskSpec& task, const train::RunFolder& folder,
                                          const std::vector<std::string>& assignments);
/// The dates and the hash of the loaded training data that differ from those of the run's folder. Data error
/// if they have other columns, classes or sizes, for which the run's model is not made.
std::vector<std::string> changed_data(const Run& run);
/// Data error that lists the differences of data, unless there are none or they are accepted.
void require_same_data(const Run& run, const std::vector<std::string>& differences, bool accept_changes);

/// Writes the config, description and hash of a run that continues with changes. Config error if no step is
/// left and they would change its evaluation.
void write_changes(Run& run, const ResumeChanges& changes, bool steps_left);

}  // namespace modewise::tasks
