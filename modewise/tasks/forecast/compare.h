#pragma once
// Finished runs of `train forecast` side by side.

#include "modewise/tasks/comparison.h"

namespace modewise::tasks {

const Comparison& forecast_comparison();

}  // namespace modewise::tasks
