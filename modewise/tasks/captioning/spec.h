#pragma once

#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec captioning_spec;

}  // namespace modewise::tasks
