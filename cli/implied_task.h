#pragma once
// Implied tasks: `train` without a task name.

#include <string>
#include <vector>

namespace modewise::cli {

/// Adds the task to `train X …` and `train --data X …` (the task that X looks like) and `train --resume RUN`
/// (the task of RUN), and replaces a task name by its command (`train volume_classification`). Other command
/// lines come back as they are. Throws when a run cannot be opened.
std::vector<std::string> with_task(std::vector<std::string> command_line);
/// Whether a word after `train` is data: not a task, and a path that exists or looks like one.
bool looks_like_data(const std::string& word);

}  // namespace modewise::cli
