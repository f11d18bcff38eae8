#pragma once

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec captioning_spec;
/// Comparison of finished runs of `train caption`.
const Comparison& caption_comparison();

}  // namespace modewise::tasks
