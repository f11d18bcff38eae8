#pragma once
// Finished runs of `train language` side by side.

#include "modewise/tasks/comparison.h"

namespace modewise::tasks {

const Comparison& language_comparison();

}  // namespace modewise::tasks
