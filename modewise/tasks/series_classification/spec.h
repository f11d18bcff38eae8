#pragma once

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec series_classification_spec;

}  // namespace modewise::tasks
