#pragma once

#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec volume_classification_spec;

}  // namespace modewise::tasks
