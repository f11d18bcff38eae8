#pragma once

#include <string>

#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

/// Writes the explanation of a run to the folder `out`, whose files are overwritten only with `force`, or to
/// RUN/explain ("") if it is empty, which is always overwritten. Returns explanation_json with "report", the
/// page. Usage error for a task without explanations.
Result explain_run(const ExplainRequest& request, const std::string& out, bool force);

}  // namespace modewise::tasks
