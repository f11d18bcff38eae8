#pragma once

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec segmentation_spec;
/// Comparison of finished runs of `train segment`.
const Comparison& segment_comparison();

}  // namespace modewise::tasks
