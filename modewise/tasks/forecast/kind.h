#pragma once

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind forecast_kind;
/// Finished runs of `train forecast` side by side.
const Comparison& forecast_comparison();

}  // namespace modewise::tasks
