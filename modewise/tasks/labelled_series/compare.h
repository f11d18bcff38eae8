#pragma once
// Finished runs of `train series` side by side.

#include "modewise/tasks/comparison.h"

namespace modewise::tasks {

const Comparison& series_comparison();

}  // namespace modewise::tasks
