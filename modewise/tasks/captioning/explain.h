#pragma once

#include "modewise/tasks/run/explanation.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

/// Occlusion of rows and columns of the images or features, which are replaced by the mean. The effect is on
/// the next-word probabilities of the first reference caption.
Explanation explain_captions(Run& opened, const ExplainOptions& options);

}  // namespace modewise::tasks
