#pragma once

#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec segmentation_spec;
/// Finished runs of `train segment` side by side.
const Comparison& segment_comparison();

}  // namespace modewise::tasks
