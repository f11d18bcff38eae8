#pragma once
// `modewise train text`: encoders that classify texts, tell numbers of them, or tell hidden tokens.

#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec text_spec;

}  // namespace modewise::tasks
