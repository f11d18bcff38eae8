#pragma once
// `modewise train text`: text encoders for classification, regression or masked language modelling.

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec text_spec;

}  // namespace modewise::tasks
