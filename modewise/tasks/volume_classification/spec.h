#pragma once

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec volume_classification_spec;

}  // namespace modewise::tasks
