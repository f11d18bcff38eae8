#pragma once
// Finished runs of `train segment` side by side.

#include "modewise/tasks/comparison.h"

namespace modewise::tasks {

const Comparison& segment_comparison();

}  // namespace modewise::tasks
