#pragma once

#include "modewise/tasks/captioning/run.h"
#include "modewise/tasks/explanation.h"

namespace modewise::tasks {

/// Occlusion of rows and columns of the images or features, which are replaced by the mean. The effect is on
/// the next-word probabilities of the first reference caption.
Explanation explain_captions(const CaptioningRun& run, const data::CaptionSet& set,
                             const ExplainOptions& options);

}  // namespace modewise::tasks
