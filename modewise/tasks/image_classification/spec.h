#pragma once
// `modewise train classify-images`: image classification.

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec image_classification_spec;

}  // namespace modewise::tasks
