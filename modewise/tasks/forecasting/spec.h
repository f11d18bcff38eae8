#pragma once

#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec forecasting_spec;
/// Finished runs of `train forecast` side by side.
const Comparison& forecast_comparison();

}  // namespace modewise::tasks
