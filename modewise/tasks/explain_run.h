#pragma once

#include <string>

#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

/// Explains a run into a folder: `out`, whose files are overwritten with `force` alone, or "" for
/// RUN/explain, which is made from the run and may be made again. Returns explanation_json with "report", the
/// page. Usage error for a task that explains nothing.
Result explain_run(const ExplainRequest& request, const std::string& out, bool force);

}  // namespace modewise::tasks
