#pragma once

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind scenes_kind;
/// Finished runs of `train segment` side by side.
const Comparison& segment_comparison();

}  // namespace modewise::tasks
