#pragma once
// `train` without a task.

#include <string>
#include <vector>

namespace modewise::cli {

/// Of `train --data X …` and `train --resume RUN`, whose task is left out: the same with the task that X
/// looks like, or that RUN is of, named. Other command lines stay as they are. Errors of a run that cannot be
/// opened.
std::vector<std::string> with_task(std::vector<std::string> command_line);

}  // namespace modewise::cli
