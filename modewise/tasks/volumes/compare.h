#pragma once
// Finished runs of `train classify` side by side.

#include "modewise/tasks/comparison.h"

namespace modewise::tasks {

const Comparison& classify_comparison();

}  // namespace modewise::tasks
