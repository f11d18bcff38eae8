#pragma once

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec forecasting_spec;
/// Comparison of finished runs of `train forecast`.
const Comparison& forecast_comparison();

}  // namespace modewise::tasks
